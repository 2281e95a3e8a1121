#include "inject/xla/xla_ranges.h"

#include <pthread.h>

#include <atomic>
#include <cstring>

#include "inject/driver/nvtx_functions.h"
#include "inject/xla/thread_ranges.h"

namespace utlz::agent {
namespace {

constexpr char kXlaDomain[] = "TSL";  // of XLA's library, TensorFlow's too
// XLA builds a program's graphs when it first runs it, on each device.
constexpr uint32_t kWatchedRuns = 8;
constexpr int kNoTracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

using PushEx = int (*)(nvtx::Domain, const nvtx::EventAttributes*);
using Pop = int (*)(nvtx::Domain);
using RegisterString = nvtx::String (*)(nvtx::Domain, const char*);
using CreateDomain = nvtx::Domain (*)(const char*);
using Tell = void (*)(CaptureEvent);

// What was in NVTX's tables before; null where no tool answers.
struct Before {
  PushEx push = nullptr;
  Pop pop = nullptr;
  RegisterString register_string = nullptr;
  CreateDomain create_domain = nullptr;

  bool operator==(const Before&) const = default;
};

struct State {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // held while a copy of NVTX is taken over
  std::atomic<bool> watches{false};
  Before before;
  std::atomic<nvtx::Domain> domain{nullptr};  // of XLA
  std::atomic<Tell> tell{nullptr};
  std::atomic<uint32_t> open_programs{0};
  InstructionTexts texts;
  ThreadRanges ranges;
};
constinit State state;

bool IsXla(nvtx::Domain domain) {
  return domain != nullptr && domain == state.domain.load(std::memory_order_acquire);
}

void Say(CaptureEvent event) {
  if (const Tell tell = state.tell.load(std::memory_order_acquire)) tell(event);
}

void WatchProgram(ThreadRanges::Thread* thread, uint32_t title) {
  if (thread->watched_depth != 0 || state.tell.load(std::memory_order_relaxed) == nullptr ||
      state.texts.KindOf(title) != InstructionTexts::Kind::kProgram ||
      state.texts.CountRun(title) >= kWatchedRuns) {
    return;
  }
  thread->watched_depth = thread->depth;
  state.open_programs.fetch_add(1, std::memory_order_relaxed);
  Say(CaptureEvent::kBuilds);
}

void NotePush(const nvtx::EventAttributes* attributes) {
  ThreadRanges::Thread* const thread = state.ranges.Mine();
  if (thread == nullptr) return;
  uint32_t title = 0;
  if (attributes != nullptr && attributes->size >= sizeof(nvtx::EventAttributes) &&
      attributes->message_type == nvtx::kMessageRegistered) {
    title = state.texts.Find(attributes->message);
  }
  thread->Push(title);
  if (title != 0) WatchProgram(thread, title);
}

void NotePop() {
  ThreadRanges::Thread* const thread = state.ranges.Known();
  if (thread == nullptr) return;
  const bool is_watched = thread->watched_depth != 0 && thread->depth == thread->watched_depth;
  thread->Pop();
  if (!is_watched) return;
  thread->watched_depth = 0;
  state.open_programs.fetch_sub(1, std::memory_order_relaxed);
  Say(CaptureEvent::kBuilt);
}

int OnPushEx(nvtx::Domain domain, const nvtx::EventAttributes* attributes) {
  if (IsXla(domain)) NotePush(attributes);
  return state.before.push != nullptr ? state.before.push(domain, attributes) : kNoTracking;
}

int OnPop(nvtx::Domain domain) {
  if (IsXla(domain)) NotePop();
  return state.before.pop != nullptr ? state.before.pop(domain) : kNoTracking;
}

nvtx::String OnRegisterString(nvtx::Domain domain, const char* text) {
  nvtx::String handle = state.before.register_string != nullptr
                            ? state.before.register_string(domain, text)
                            : nullptr;
  if (!IsXla(domain)) return handle;
  ThreadRanges::Thread* const thread = state.ranges.Mine();
  if (thread == nullptr) return handle;
  const uint32_t title = state.texts.Register(text, thread->last_title);
  const bool is_new = title != thread->last_title;
  thread->last_title = title;
  if (!is_new || title == 0) return handle;
  // Without a tool that makes handles, the number is one.
  if (handle == nullptr) handle = reinterpret_cast<nvtx::String>(static_cast<uintptr_t>(title));
  state.texts.AddHandle(handle, title);
  return handle;
}

nvtx::Domain OnCreateDomain(const char* name) {
  const bool is_xla = name != nullptr && std::strcmp(name, kXlaDomain) == 0;
  nvtx::Domain domain =
      state.before.create_domain != nullptr ? state.before.create_domain(name) : nullptr;
  if (!is_xla) return domain;
  if (domain == nullptr) domain = &state;
  state.domain.store(domain, std::memory_order_release);
  return domain;
}

bool TakeOver(const Before& before) {
  pthread_mutex_lock(&state.mutex);
  bool watches = state.watches.load(std::memory_order_relaxed);
  if (!watches && state.texts.Create() && state.ranges.Create()) {
    state.before = before;
    state.watches.store(watches = true, std::memory_order_release);
  }
  watches = watches && state.before == before;
  pthread_mutex_unlock(&state.mutex);
  return watches;
}

}  // namespace

bool WatchXla(nvtx::GetExportTable get_export_table, bool is_answered) {
  nvtx::Functions functions;
  if (!nvtx::FindFunctions(get_export_table, &functions)) return false;
  Before before;
  if (is_answered) {
    before = {reinterpret_cast<PushEx>(*functions.push), reinterpret_cast<Pop>(*functions.pop),
              reinterpret_cast<RegisterString>(*functions.register_string),
              reinterpret_cast<CreateDomain>(*functions.create_domain)};
  }
  if (!TakeOver(before)) return false;
  *functions.push = reinterpret_cast<nvtx::Function>(OnPushEx);
  *functions.pop = reinterpret_cast<nvtx::Function>(OnPop);
  *functions.register_string = reinterpret_cast<nvtx::Function>(OnRegisterString);
  *functions.create_domain = reinterpret_cast<nvtx::Function>(OnCreateDomain);
  return true;
}

void TellOfXlaPrograms(Tell tell) { state.tell.store(tell, std::memory_order_release); }

uint32_t OpenXlaPrograms() { return state.open_programs.load(std::memory_order_relaxed); }

uint32_t CurrentInstruction() {
  if (!state.watches.load(std::memory_order_acquire)) return 0;
  const ThreadRanges::Thread* const thread = state.ranges.Known();
  if (thread == nullptr || thread->depth == 0) return 0;
  using Kind = InstructionTexts::Kind;
  const uint32_t trial = thread->Innermost(
      [](uint32_t title) { return state.texts.KindOf(title) != Kind::kInstruction; });
  if (trial != 0 && state.texts.KindOf(trial) == Kind::kTrial) return trial;
  return thread->Innermost(
      [](uint32_t title) { return state.texts.KindOf(title) == Kind::kInstruction; });
}

InstructionTexts::Texts TextsOfInstruction(uint32_t instruction) {
  return state.texts.TextsOf(instruction);
}

}  // namespace utlz::agent
