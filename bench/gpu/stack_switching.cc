// Switches CUPTI's callbacks of launches on and off as windows with stacks would, for
// stack_switching.py, which compiles this with the agent's own sources and loads it with ctypes.
//
// A window subscribes, switches callbacks of driver launches on, then kinds of records context by
// context; it ends the other way round. Each callback walks the Python frames of its thread and
// notes the call's number in a table of bounded size, where the records look for theirs. Allocates
// and keeps what an agent would not.
#include "bench/gpu/stack_switching.h"

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "inject/driver/cuda_api.h"
#include "inject/driver/primary_contexts.h"
#include "inject/python/python_code.h"
#include "inject/tracing/other_client.h"
#include "inject/tracing/registration.h"

namespace switching {

std::atomic<uint64_t> counts[kCounts];
Shared& shared = *new Shared;

namespace {

using utlz::agent::NoStack;
namespace cupti = utlz::agent::cupti;

constexpr uint32_t kKinds[] = {cupti::kKindConcurrentKernel, cupti::kKindMemcpy,
                               cupti::kKindMemcpy2, cupti::kKindMemset};
constexpr size_t kBufferBytes = 1 << 20;
constexpr uint32_t kTableEntries = 1 << 20;

enum Step { kSubscribe, kCallbacksOn, kKindsOn, kKindsOff, kCallbacksOff, kUnsubscribe, kSteps };

// Never destroyed, like what is shared.
struct State {
  utlz::agent::CudaApi cuda{};
  utlz::agent::Registration registration;
  utlz::agent::OtherClient other;
  cupti::Subscriber subscriber = nullptr;
  std::atomic<bool> stopping{false};
  bool records = true, callbacks = true, taken = false;
  bool keeps = false;     // the subscription, from window to window
  uint32_t grace_us = 0;  // between callbacks and the subscription
  uint32_t on_us = 1000, off_us = 1000;
  std::atomic<uint32_t> table[kTableEntries];
  std::vector<uint32_t> took_ns[kSteps];
  std::thread switching;
  std::map<uint64_t, std::string> texts;  // of stacks
};
State& state = *new State;
std::atomic<int64_t> in_flight{0};

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

void SleepUs(uint32_t us) {
  const timespec pause{us / 1000000, us % 1000000 * 1000L};
  nanosleep(&pause, nullptr);
}

template <typename Act>
auto Timed(Step step, Act act) {
  const uint64_t begin_ns = NowNs();
  const auto result = act();
  if (state.took_ns[step].size() < 1 << 18) {
    state.took_ns[step].push_back(static_cast<uint32_t>(NowNs() - begin_ns));
  }
  return result;
}

void Ignore(void*, uint32_t, uint32_t, const void*) {}

void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(aligned_alloc(64, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void OnKernel(const cupti::KernelRecord& record) {
  const uint32_t number = record.correlation_id;
  const bool joined = state.table[number % kTableEntries].load() == number;
  Add(record.graph_node_id == 0 ? kKernels : kNodeKernels);
  if (joined && record.graph_node_id == 0) Add(kJoined);
  if (record.graph_node_id == 0) return;
  if (HasStack(record.graph_node_id) || joined) Add(kNodesJoined);
}

void OnBufferCompleted(cupti::Context, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  cupti::RecordHead* record = nullptr;
  while (valid != 0 && shared.cupti.activity_get_next_record(buffer, valid, &record) == 0) {
    if (record->kind != cupti::kKindConcurrentKernel) continue;
    OnKernel(*reinterpret_cast<const cupti::KernelRecord*>(record));
  }
  free(buffer);
}

void CallbacksOf(cupti::Subscriber subscriber, bool on) {
  for (const uint32_t id : cupti::kDriverLaunchCalls) {
    shared.cupti.enable_callback(on, subscriber, cupti::kDomainDriverApi, id);
  }
}

// Until none of our callbacks runs, and for a while after that.
void Grace() {
  if (state.grace_us == 0) return;
  for (int i = 0; i < 1000 && in_flight != 0; ++i) SleepUs(1000);
  SleepUs(state.grace_us);
}

// With the turn's lock.
void GiveUp() {
  if (!shared.subscribed) return;
  Timed(kCallbacksOff, [] { return CallbacksOf(state.subscriber, false), 0; });
  if (state.keeps && !state.stopping) return;
  Grace();
  shared.subscribed = false;
  Timed(kUnsubscribe, [] { return shared.cupti.unsubscribe(state.subscriber); });
  if (in_flight != 0) Add(kInFlight);
}

void GiveWay() {
  if (shared.subscribed) Add(kGaveWay);
  GiveUp();
}

void EmptyBuffers() { shared.cupti.activity_flush_all(cupti::kFlushForced); }

void SwitchKinds(bool on) {
  const utlz::agent::PrimaryContexts contexts(state.cuda);
  for (uint32_t i = 0; i < contexts.count(); ++i) {
    for (const uint32_t kind : kKinds) {
      const auto enable_or_disable =
          on ? shared.cupti.activity_enable_context : shared.cupti.activity_disable_context;
      enable_or_disable(contexts[i], kind);
    }
  }
}

void OpenCallbacks() {
  const cupti::Result result = shared.subscribed ? cupti::kSuccess : Timed(kSubscribe, [] {
    return shared.cupti.subscribe(&state.subscriber, OnCallback, nullptr);
  });
  if (result == cupti::kSuccess) {
    shared.subscribed = true;
    Grace();
    Timed(kCallbacksOn, [] { return CallbacksOf(state.subscriber, true), 0; });
  } else {
    Add(kRefused);
    counts[kRefusedCode] = static_cast<uint64_t>(result);
  }
}

void Open() {
  if (state.callbacks) OpenCallbacks();
  if (state.records) Timed(kKindsOn, [] { return SwitchKinds(true), 0; });
}

void Close() {
  if (state.records && !state.taken) {
    Timed(kKindsOff, [] { return SwitchKinds(false), 0; });
    shared.cupti.activity_flush_all(0);
  }
  GiveUp();
}

void FollowClient() {
  if (!state.taken && !state.registration.Ours()) {
    state.taken = true;
    Add(kTaken);
    state.other.Watch(shared.cupti, state.registration.Holder(), &shared.turn);
  }
  if (!state.taken || !state.other.DoneFor(NowNs(), 500000000)) return;
  if (state.registration.Register(shared.cupti, OnBufferRequested, OnBufferCompleted) == 0) {
    state.taken = false;
    state.other.Forget();
  }
}

void SwitchUntilStopped() {
  unsigned seed = 1;
  const auto pause = [&seed](uint32_t us) {
    SleepUs(us / 2 + static_cast<uint32_t>(rand_r(&seed)) % (us + 1));
  };
  while (!state.stopping) {
    pthread_mutex_lock(&shared.turn);
    FollowClient();
    const bool opens = !state.taken;
    if (opens) Open();
    pthread_mutex_unlock(&shared.turn);
    pause(state.on_us);
    pthread_mutex_lock(&shared.turn);
    FollowClient();
    if (opens) Close();
    pthread_mutex_unlock(&shared.turn);
    Add(kWindows);
    pause(state.off_us);
  }
}

}  // namespace

void OnCallback(void*, uint32_t domain, uint32_t id, const void* data) {
  if (domain == kResourceDomain) return OnResource(id, data);
  const auto& call = *static_cast<const cupti::CallbackData*>(data);
  if (call.site == cupti::kCallbackExit) return;
  in_flight.fetch_add(1);
  if (!shared.subscribed) Add(kLateCallbacks);
  Add(kCallbacks);
  state.table[call.correlation_id % kTableEntries].store(call.correlation_id,
                                                         std::memory_order_relaxed);
  if (shared.has_python) Add(shared.frames.Walk().why == NoStack::kNone ? kWalks : kNoWalks);
  in_flight.fetch_sub(1);
}

void ResolveNewStacks() {
  static utlz::agent::PythonStack stack;
  static utlz::agent::PythonCode code;
  static utlz::agent::MemoryPages memory;
  static const bool has_memory = memory.Create();
  while (has_memory && shared.frames.TakeNewStack(&stack)) {
    std::string text;
    memory.Forget();
    for (uint32_t i = 0; i < stack.frame_count; ++i) {
      const utlz::agent::PythonFrame& frame = stack.frames[i];
      if (!ReadPythonCode(shared.layout, &memory, frame.code, &code)) continue;
      const char* slash = strrchr(code.file, '/');
      text += std::string(slash != nullptr ? slash + 1 : code.file) + ":" +
              std::to_string(LineOfInstruction(
                  code, frame.instruction - frame.code - shared.layout.code_instructions)) +
              " " + code.name + (frame.module != 0 ? " (module)" : "") + "\n";
    }
    state.texts[stack.hash] = text;
  }
}

std::string TextOf(uint64_t stack) {
  const auto text = state.texts.find(stack);
  return text == state.texts.end() ? "" : text->second;
}

}  // namespace switching

using namespace switching;

extern "C" {

// The copy of libcupti, or an empty name for the one that the process has.
int switching_open(const char* path) {
  if (path[0] != 0 && dlopen(path, RTLD_NOW) == nullptr) return -1;
  if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr) return -2;
  if (!utlz::agent::LoadCuda(&state.cuda)) return -2;
  if (utlz::agent::LoadCupti(&shared.cupti) != utlz::agent::CuptiLoad::kLoaded) return -3;
  FindNodeNumbers();
  if (shared.cupti.subscribe(&state.subscriber, Ignore, nullptr) != 0) return -4;
  shared.cupti.unsubscribe(state.subscriber);
  const int status =
      state.registration.Register(shared.cupti, OnBufferRequested, OnBufferCompleted);
  utlz::agent::OtherClient::OnSubscription(GiveWay);
  utlz::agent::OtherClient::OnRegistration(EmptyBuffers);
  state.other.WatchImporters(shared.cupti, &shared.turn);
  return status;
}

const char* switching_cupti(void) { return shared.cupti.path; }

// Why there are no stacks; 0: there are.
int switching_open_python(void) {
  const NoStack why = utlz::agent::FindPython(&shared.layout);
  if (why == NoStack::kNone && !shared.frames.Create(shared.layout)) return -1;
  shared.has_python = why == NoStack::kNone;
  return static_cast<int>(why);
}

void switching_add_module_code(uint64_t code) { shared.frames.AddModuleCode(code); }

void switching_start(int records, int callbacks, int keeps, uint32_t grace_us, uint32_t on_us,
                     uint32_t off_us) {
  state.records = records != 0;
  state.callbacks = callbacks != 0;
  state.keeps = keeps != 0;
  state.grace_us = grace_us;
  state.on_us = on_us;
  state.off_us = off_us;
  state.stopping = false;
  state.switching = std::thread(SwitchUntilStopped);
}

void switching_stop(void) {
  state.stopping = true;
  state.switching.join();
  GiveUp();
  shared.cupti.activity_flush_all(cupti::kFlushForced);
}

uint64_t switching_count(int what) { return counts[what]; }

uint32_t switching_took_ns(int step, double share) {
  std::vector<uint32_t>& took = state.took_ns[step];
  if (took.empty()) return 0;
  std::sort(took.begin(), took.end());
  const auto at = static_cast<size_t>(share * static_cast<double>(took.size()));
  return took[std::min(took.size() - 1, at)];
}

// Records of what runs from now on, without switching.
void switching_record(int on) {
  SwitchKinds(on != 0);
  if (on == 0) shared.cupti.activity_flush_all(cupti::kFlushForced);
}

// Stacks that have `part` in their text; all of them where it is empty.
uint64_t switching_stacks(const char* part) {
  ResolveNewStacks();
  uint64_t count = 0;
  for (const auto& entry : state.texts) count += entry.second.find(part) != std::string::npos;
  return count;
}

const char* switching_example(void) {
  ResolveNewStacks();
  const std::string* longest = nullptr;
  for (const auto& entry : state.texts) {
    if (longest == nullptr || entry.second.size() > longest->size()) longest = &entry.second;
  }
  return longest == nullptr ? "" : longest->c_str();
}

}  // extern "C"
