// The library's ways in: the driver's, NVTX's, and those of CUPTI and the C library back to us.

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "inject/agent.h"
#include "inject/base/main_thread.h"
#include "inject/base/own_descriptor.h"
#include "inject/driver/one_agent.h"
#include "inject/record/communication_calls.h"
#include "inject/xla/xla_ranges.h"
#include "proto/attach_abi.h"
#include "proto/attach_control.h"
#include "proto/ring_abi.h"
#include "proto/run_token.h"

#define UTLZ_EXPORT extern "C" __attribute__((visibility("default")))

namespace utlz::agent {
namespace {

// Never destroyed: threads and callbacks of others may come at any time, until the very end.
alignas(Agent) unsigned char agent_memory[sizeof(Agent)];
std::atomic<Agent*> agent{nullptr};

Agent* MakeAgent() { return new (agent_memory) Agent; }

Recording& TheRecording() { return agent.load(std::memory_order_acquire)->recording(); }

void AtExit() {
  if (Agent* one = agent.load(std::memory_order_acquire)) one->process_end().OnExit();
}

std::atomic<bool> main_thread_watched{false};

void WhenMainThreadEnds() {
  if (Agent* one = agent.load(std::memory_order_acquire)) one->process_end().OnMainThreadEnds();
}

void BeforeExit() {
  if (Agent* one = agent.load(std::memory_order_acquire)) one->process_end().OnExitBegins();
}

void AfterForkInChild() {
  if (Agent* one = agent.load(std::memory_order_acquire)) one->OnFork();
}

bool BeginOnce() {
  static std::atomic<bool> begun{false};
  return !begun.exchange(true);
}

// What `utlz attach` writes into its copy of this library before it is loaded.
[[gnu::section(".utlz_attach"), gnu::used,
  gnu::aligned(64)]] const volatile AttachConfig attach_config = kEmptyAttachConfig;

bool IsSet(const char* text) { return text != nullptr && text[0] != 0; }

// Null where the process is of no service.
const char* ServicePath() {
  constexpr char kScheme[] = "unix:";
  const char* place = getenv(kCollectorVariable);
  if (!IsSet(place)) return nullptr;
  if (strncmp(place, kScheme, sizeof kScheme - 1) == 0) place += sizeof kScheme - 1;
  return place[0] == '/' ? place : nullptr;
}

Agent* TheAgent() {
  if (!BeginOnce()) return nullptr;
  Agent* one = MakeAgent();
  agent.store(one, std::memory_order_release);
  return one;
}

void StartAgent() {
  const char* socket_path = getenv(kSocketVariable);
  const char* service_path = ServicePath();
  const bool of_run = IsSet(socket_path);
  const bool preloaded = !of_run && IsSet(getenv(kPreloadVariable));
  if (!of_run && !preloaded && service_path == nullptr) return;
  Agent* one = TheAgent();
  if (one == nullptr) return;
  WatchMainThread();
  if (preloaded) {
    one->ListenForTools();
    return;
  }
  if (!of_run) {
    if (one->StartForService(service_path)) WatchProcessEnds();
    return;
  }
  RunToken token;
  const bool has_token = ParseToken(getenv(kTokenVariable), &token);
  if (one->Start(socket_path, has_token ? &token : nullptr)) WatchProcessEnds();
}

// Runs inside the dynamic loader, on a thread that is not ours: no more than a thread is started,
// and this one's end watched if it is the main one.
[[gnu::constructor]] void OnLoad() {
  if (attach_config.loaded_by_attach == 0) return;
  WatchMainThread();
  if (Agent* one = TheAgent()) {
    one->WaitForTools({attach_config.control_socket, attach_config.control_socket_device,
                       attach_config.control_socket_inode});
  }
}

// Whether NVTX's ranges are to become records. Else the agent answers NVTX for XLA alone.
bool WantsRanges() {
  const char* wanted = getenv(kNvtxVariable);
  return wanted == nullptr || strcmp(wanted, kNvtxInstructions) != 0;
}

// CUPTI gives the ranges back as activity records. One libcupti serves both.
bool AnswerWithCupti(void* get_export_table) {
  CuptiApi cupti{};
  if (LoadCupti(&cupti) != CuptiLoad::kLoaded || cupti.nvtx_initialize2 == nullptr ||
      cupti.nvtx_initialize2(get_export_table) != cupti::kSuccess) {
    return false;
  }
  WatchCommunication(reinterpret_cast<nvtx::GetExportTable>(get_export_table));
  return true;
}

}  // namespace

void WatchProcessEndAnew() {
  atexit(AtExit);
  at_quick_exit(AtExit);
}

void WatchProcessEnds() {
  WatchProcessEndAnew();
  pthread_atfork(nullptr, nullptr, AfterForkInChild);
}

void WatchMainThread() {
  if (MainThreadIsWatched() || !OnMainThread()) return;
  if (CallWhenThisThreadEnds(WhenMainThreadEnds)) main_thread_watched.store(true);
}

bool MainThreadIsWatched() { return main_thread_watched.load(std::memory_order_acquire); }

void WatchExitForRanges() {
  atexit(BeforeExit);
  at_quick_exit(BeforeExit);
}

void BufferRequestedCallback(uint8_t** buffer, size_t* size, size_t* max_records) {
  TheRecording().OnBufferRequested(buffer, size, max_records);
}

void BufferCompletedCallback(cupti::Context, uint32_t, uint8_t* buffer, size_t,
                             size_t valid_bytes) {
  TheRecording().OnBufferCompleted(buffer, valid_bytes);
}

void EndSubscription() { TheRecording().OnSubscription(); }
void TakeBuffersBack() { TheRecording().OnRegistration(); }

void DriverCallCallback(void*, uint32_t domain, uint32_t, const void* data) {
  if (domain != cupti::kDomainDriverApi) return;
  TheRecording().OnDriverCall(*static_cast<const cupti::CallbackData*>(data));
}

void CaptureCallback(CaptureEvent event) { TheRecording().OnCapture(event); }

void LaunchCallback(void*, uint32_t domain, uint32_t callback_id, const void* data) {
  if (domain == cupti::kDomainResource) {
    TheRecording().OnNode(callback_id, *static_cast<const cupti::ResourceData*>(data));
  }
  if (domain != cupti::kDomainDriverApi) return;
  TheRecording().OnLaunch(*static_cast<const cupti::CallbackData*>(data));
}

}  // namespace utlz::agent

// Called by the CUDA driver inside cuInit (CUDA_INJECTION64_PATH).
UTLZ_EXPORT int InitializeInjection() {
  utlz::agent::StartAgent();
  return 1;
}

// Called by NVTX on its first use (NVTX_INJECTION64_PATH), maybe before cuInit. NVTX expects
// non-zero for success.
UTLZ_EXPORT int InitializeInjectionNvtx2(void* get_export_table) {
  if (getenv(utlz::kSocketVariable) == nullptr && utlz::agent::ServicePath() == nullptr) return 0;
  const bool has_ranges =
      utlz::agent::WantsRanges() && utlz::agent::AnswerWithCupti(get_export_table);
  const bool has_instructions = utlz::agent::WatchXla(
      reinterpret_cast<utlz::agent::nvtx::GetExportTable>(get_export_table), has_ranges);
  return has_ranges || has_instructions ? 1 : 0;
}

// Called by NVTX's extensions on their first use, after the above.
UTLZ_EXPORT int InitializeInjectionNvtxExtension(utlz::agent::nvtx::ExtensionModule* module) {
  return utlz::agent::WatchPayloads(module) ? 1 : 0;
}
