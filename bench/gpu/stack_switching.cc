// Switches CUPTI's callbacks of launches on and off as windows with stacks would, for
// stack_switching.py, which compiles this with the agent's own sources and loads it with ctypes.
//
// A window subscribes, switches callbacks of driver launches on, then kinds of records context by
// context; it ends the other way round. Each callback walks the Python frames of its thread and
// notes the call's number in a table of bounded size, where the records look for theirs. The loads
// of switching_load launch through the driver without pause. Imports of captures are pointed at
// observers. Allocates and keeps what an agent would not.
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"
#include "inject/python/python_code.h"
#include "inject/python/python_frames.h"
#include "inject/record/primary_contexts.h"
#include "inject/tracing/import_slot.h"
#include "inject/tracing/other_client.h"
#include "inject/tracing/registration.h"

namespace {

using utlz::inject::NoStack;
namespace cupti = utlz::inject::cupti;

constexpr uint32_t kKinds[] = {cupti::kKindConcurrentKernel, cupti::kKindMemcpy,
                               cupti::kKindMemcpy2, cupti::kKindMemset};
constexpr uint32_t kResourceDomain = 3;
constexpr uint32_t kNodeCreated = 13, kNodeCloned = 20;
constexpr size_t kBufferBytes = 1 << 20;
constexpr uint32_t kTableEntries = 1 << 20;

// What switching_counts returns, in this order.
enum Count {
  kWindows, kRefused, kRefusedCode, kCallbacks, kLateCallbacks, kInFlight, kKernels, kJoined,
  kNodeKernels, kNodesJoined, kWalks, kNoWalks, kGaveWay, kTaken, kBegins, kEnds, kInstantiations,
  kCreated, kCloned, kCreatedWithStack, kCaptureRefused, kFailures, kCounts
};
std::atomic<uint64_t> counts[kCounts];
void Add(Count what, uint64_t by = 1) { counts[what].fetch_add(by, std::memory_order_relaxed); }

enum Step { kSubscribe, kCallbacksOn, kKindsOn, kKindsOff, kCallbacksOff, kUnsubscribe, kSteps };

struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;
};
struct GraphData {
  void *graph, *original_graph, *node, *original_node;
};

// Never destroyed: callbacks may come until the process ends.
struct State {
  utlz::inject::CuptiApi cupti{};
  utlz::inject::CudaApi cuda{};
  utlz::inject::PythonLayout layout;
  utlz::inject::PythonFrames frames;
  utlz::inject::Registration registration;
  utlz::inject::OtherClient other;
  pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  cupti::Subscriber subscriber = nullptr;
  std::atomic<bool> subscribed{false}, stopping{false}, has_python{false};
  bool records = true, callbacks = true, taken = false;
  bool keeps = false;     // the subscription, from window to window
  uint32_t grace_us = 0;  // between callbacks and the subscription
  uint32_t on_us = 1000, off_us = 1000;
  std::atomic<uint32_t> table[kTableEntries];
  std::vector<uint32_t> took_ns[kSteps];
  std::thread switching;
  std::vector<std::thread> loads;
  std::atomic<bool> loads_stopping{false};
  cupti::Result (*node_id)(void*, uint64_t*) = nullptr;
  std::mutex nodes_lock;
  std::map<uint64_t, uint64_t> originals;   // a clone's number: that of what it was cloned from
  std::map<uint64_t, uint64_t> node_stacks;
  std::map<uint64_t, std::string> texts;    // of stacks
  bool watches_captures = false;
  cupti::Subscriber capture_subscriber = nullptr;
};
State& state = *new State;

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

void OnNode(uint32_t id, const GraphData& graph) {
  uint64_t node = 0, original = 0;
  if (state.node_id == nullptr || state.node_id(graph.node, &node) != 0) return;
  const std::lock_guard lock(state.nodes_lock);
  if (id == kNodeCloned) {
    Add(kCloned);
    if (state.node_id(graph.original_node, &original) == 0) state.originals[node] = original;
    return;
  }
  Add(kCreated);
  if (!state.has_python) return;
  const utlz::inject::PythonWalk walk = state.frames.Walk();
  if (walk.why != NoStack::kNone) return;
  Add(kCreatedWithStack);
  state.node_stacks.emplace(node, walk.hash);  // the first one: what comes again is a clone
}

std::atomic<int64_t> in_flight{0};

void OnCallback(void*, uint32_t domain, uint32_t id, const void* data) {
  if (domain == kResourceDomain) {
    if (id != kNodeCreated && id != kNodeCloned) return;
    OnNode(id, *static_cast<const GraphData*>(static_cast<const ResourceData*>(data)->descriptor));
    return;
  }
  const auto& call = *static_cast<const cupti::CallbackData*>(data);
  if (call.site == cupti::kCallbackExit) return;
  in_flight.fetch_add(1);
  if (!state.subscribed) Add(kLateCallbacks);
  Add(kCallbacks);
  state.table[call.correlation_id % kTableEntries].store(call.correlation_id,
                                                         std::memory_order_relaxed);
  if (state.has_python) Add(state.frames.Walk().why == NoStack::kNone ? kWalks : kNoWalks);
  in_flight.fetch_sub(1);
}

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
  const std::lock_guard lock(state.nodes_lock);
  const auto clone = state.originals.find(record.graph_node_id);
  const auto stack = clone == state.originals.end() ? state.node_stacks.end()
                                                    : state.node_stacks.find(clone->second);
  if (stack != state.node_stacks.end() || joined) Add(kNodesJoined);
}

void OnBufferCompleted(cupti::Context, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  cupti::RecordHead* record = nullptr;
  while (valid != 0 && state.cupti.activity_get_next_record(buffer, valid, &record) == 0) {
    if (record->kind != cupti::kKindConcurrentKernel) continue;
    OnKernel(*reinterpret_cast<const cupti::KernelRecord*>(record));
  }
  free(buffer);
}

void CallbacksOf(cupti::Subscriber subscriber, bool on) {
  for (const uint32_t id : cupti::kDriverLaunchCalls) {
    state.cupti.enable_callback(on, subscriber, cupti::kDomainDriverApi, id);
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
  if (!state.subscribed) return;
  Timed(kCallbacksOff, [] { return CallbacksOf(state.subscriber, false), 0; });
  if (state.keeps && !state.stopping) return;
  Grace();
  state.subscribed = false;
  Timed(kUnsubscribe, [] { return state.cupti.unsubscribe(state.subscriber); });
  if (in_flight != 0) Add(kInFlight);
}

void GiveWay() {
  if (state.subscribed) Add(kGaveWay);
  GiveUp();
}

void EmptyBuffers() { state.cupti.activity_flush_all(cupti::kFlushForced); }

void SwitchKinds(bool on) {
  const utlz::inject::PrimaryContexts contexts(state.cuda);
  for (uint32_t i = 0; i < contexts.count(); ++i) {
    for (const uint32_t kind : kKinds) {
      (on ? state.cupti.activity_enable_context : state.cupti.activity_disable_context)(contexts[i],
                                                                                       kind);
    }
  }
}

void OpenCallbacks() {
  const cupti::Result result =
      state.subscribed ? cupti::kSuccess : Timed(kSubscribe, [] {
        return state.cupti.subscribe(&state.subscriber, OnCallback, nullptr);
      });
  if (result == cupti::kSuccess) {
    state.subscribed = true;
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
    state.cupti.activity_flush_all(0);
  }
  GiveUp();
}

void FollowClient() {
  if (!state.taken && !state.registration.Ours()) {
    state.taken = true;
    Add(kTaken);
    state.other.Watch(state.cupti, state.registration.Holder(), &state.turn);
  }
  if (!state.taken || !state.other.DoneFor(NowNs(), 500000000)) return;
  if (state.registration.Register(state.cupti, OnBufferRequested, OnBufferCompleted) == 0) {
    state.taken = false;
    state.other.Forget();
  }
}

void SwitchUntilStopped() {
  unsigned seed = 1;
  const auto pause = [&seed](uint32_t us) { SleepUs(us / 2 + static_cast<uint32_t>(rand_r(&seed)) % (us + 1)); };
  while (!state.stopping) {
    pthread_mutex_lock(&state.turn);
    FollowClient();
    const bool opens = !state.taken;
    if (opens) Open();
    pthread_mutex_unlock(&state.turn);
    pause(state.on_us);
    pthread_mutex_lock(&state.turn);
    FollowClient();
    if (opens) Close();
    pthread_mutex_unlock(&state.turn);
    Add(kWindows);
    pause(state.off_us);
  }
}

void ResolveNewStacks() {
  static utlz::inject::PythonStack stack;
  static utlz::inject::PythonCode code;
  while (state.frames.TakeNewStack(&stack)) {
    std::string text;
    for (uint32_t i = 0; i < stack.frame_count; ++i) {
      const utlz::inject::PythonFrame& frame = stack.frames[i];
      if (!ReadPythonCode(state.layout, frame.code, &code)) continue;
      const char* slash = strrchr(code.file, '/');
      text += std::string(slash != nullptr ? slash + 1 : code.file) + ":" +
              std::to_string(LineOfInstruction(
                  code, frame.instruction - frame.code - state.layout.code_instructions)) +
              " " + code.name + (frame.module != 0 ? " (module)" : "") + "\n";
    }
    state.texts[stack.hash] = text;
  }
}

// The program of empty kernels.

struct Driver {
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*set_current)(void*);
  int (*stream_create)(void**, unsigned);
  int (*synchronize)(void*);
  int (*set_memory)(uint64_t, uint8_t, size_t, void*);
  int (*allocate)(uint64_t*, size_t);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*launch_graph)(void*, void*);
  void *context, *kernel;
} driver;

const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n";

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

int LaunchOne(void* stream) {
  return driver.launch(driver.kernel, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
}

int OpenDriver(const char* cubin) {
  void* l = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned), (*retain)(void**, int);
  int (*load)(void**, const char*), (*load_data)(void**, const void*);
  int (*function)(void**, void*, const char*);
  if (l == nullptr || !Find(l, "cuInit", &init) || !Find(l, "cuDevicePrimaryCtxRetain", &retain) ||
      !Find(l, "cuCtxSetCurrent", &driver.set_current) ||
      !Find(l, "cuStreamCreate", &driver.stream_create) ||
      (cubin[0] != 0 && !Find(l, "cuModuleLoad", &load)) ||
      !Find(l, "cuModuleLoadData", &load_data) || !Find(l, "cuModuleGetFunction", &function) ||
      !Find(l, "cuLaunchKernel", &driver.launch) || !Find(l, "cuMemAlloc_v2", &driver.allocate) ||
      !Find(l, "cuStreamSynchronize", &driver.synchronize) ||
      !Find(l, "cuMemsetD8Async", &driver.set_memory) ||
      !Find(l, "cuStreamBeginCapture_v2", &driver.begin_capture) ||
      !Find(l, "cuStreamEndCapture", &driver.end_capture) ||
      !Find(l, "cuGraphInstantiateWithFlags", &driver.instantiate) ||
      !Find(l, "cuGraphLaunch", &driver.launch_graph)) {
    return -1;
  }
  void* module = nullptr;
  void* stream = nullptr;
  int status = init(0);
  if (status == 0) status = retain(&driver.context, 0);
  if (status == 0) status = driver.set_current(driver.context);
  if (status == 0) status = cubin[0] != 0 ? load(&module, cubin) : load_data(&module, kPtx);
  if (status == 0) status = function(&driver.kernel, module, "empty");
  // Loaded by its first launch, which waits for the GPU.
  if (status == 0) status = driver.stream_create(&stream, 1);
  if (status == 0) status = LaunchOne(stream);
  return status == 0 ? driver.synchronize(stream) : status;
}

void LaunchKernels(void* stream) {
  while (!state.loads_stopping) {
    if (LaunchOne(stream) != 0) Add(kFailures);
  }
}

void SetMemory(void* stream) {
  uint64_t memory = 0;
  driver.allocate(&memory, 4096);
  while (!state.loads_stopping) {
    if (driver.set_memory(memory, 0, 4096, stream) != 0) Add(kFailures);
  }
}

void LaunchGraphs(void* stream) {
  void *graph = nullptr, *executable = nullptr;
  constexpr int kThreadLocal = 1;
  int status = driver.begin_capture(stream, kThreadLocal);
  for (int i = 0; i < 20; ++i) status |= LaunchOne(stream);
  status |= driver.end_capture(stream, &graph);
  status |= driver.instantiate(&executable, graph, 0);
  while (!state.loads_stopping && status == 0) status = driver.launch_graph(executable, stream);
  if (status != 0) Add(kFailures);
}

// Threads that live for fifty launches.
void LaunchFromNewThreads(void* stream) {
  while (!state.loads_stopping) {
    std::thread([stream] {
      driver.set_current(driver.context);
      for (int i = 0; i < 50; ++i) {
        if (LaunchOne(stream) != 0) Add(kFailures);
      }
    }).join();
  }
}

void StartLoad(void (*load)(void*)) {
  state.loads.emplace_back([load] {
    void* stream = nullptr;
    driver.set_current(driver.context);
    driver.stream_create(&stream, 1);
    load(stream);
    driver.synchronize(stream);
  });
}

// Captures: imports of the CUDA runtime's functions.

using BeginCapture = int (*)(void*, int);
using EndCapture = int (*)(void*, void**);
using Instantiate = int (*)(void**, void*, unsigned long long);
BeginCapture real_begin;
EndCapture real_end;
Instantiate real_instantiate, real_instantiate_with_flags;

void WatchNodes() {
  pthread_mutex_lock(&state.turn);
  const bool busy = state.subscribed || state.capture_subscriber != nullptr;
  if (!busy && state.cupti.subscribe(&state.capture_subscriber, OnCallback, nullptr) == 0) {
    for (const uint32_t id : {kNodeCreated, kNodeCloned}) {
      state.cupti.enable_callback(1, state.capture_subscriber, kResourceDomain, id);
    }
  } else if (!busy) {
    state.capture_subscriber = nullptr;
    Add(kCaptureRefused);
  }
  pthread_mutex_unlock(&state.turn);
}

void LeaveNodes() {
  pthread_mutex_lock(&state.turn);
  if (state.capture_subscriber != nullptr) {
    for (const uint32_t id : {kNodeCreated, kNodeCloned}) {
      state.cupti.enable_callback(0, state.capture_subscriber, kResourceDomain, id);
    }
    state.cupti.unsubscribe(state.capture_subscriber);
    state.capture_subscriber = nullptr;
  }
  pthread_mutex_unlock(&state.turn);
}

int ObserveBegin(void* stream, int mode) {
  Add(kBegins);
  WatchNodes();
  return real_begin(stream, mode);
}

int ObserveEnd(void* stream, void** graph) {
  Add(kEnds);
  return real_end(stream, graph);
}

int ObserveInstantiate(void** executable, void* graph, unsigned long long flags) {
  Add(kInstantiations);
  const int status = real_instantiate(executable, graph, flags);
  LeaveNodes();
  return status;
}

int ObserveInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  Add(kInstantiations);
  const int status = real_instantiate_with_flags(executable, graph, flags);
  LeaveNodes();
  return status;
}

template <typename Function>
int Redirect(uintptr_t module, const char* name, Function* real, Function observer) {
  void** const slot = utlz::inject::FindImportSlot(module, name);
  if (slot == nullptr || *slot == reinterpret_cast<void*>(observer)) return 0;
  *real = reinterpret_cast<Function>(*slot);
  return utlz::inject::SetImportSlot(slot, reinterpret_cast<void*>(observer)) ? 1 : 0;
}

}  // namespace

extern "C" {

// The copy of libcupti, or an empty name for the one that the process has.
int switching_open(const char* path) {
  if (path[0] != 0 && dlopen(path, RTLD_NOW) == nullptr) return -1;
  if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr) return -2;
  if (!utlz::inject::LoadCuda(&state.cuda)) return -2;
  if (utlz::inject::LoadCupti(&state.cupti) != utlz::inject::CuptiLoad::kLoaded) return -3;
  Find(state.cupti.library, "cuptiGetGraphNodeId", &state.node_id);
  if (state.cupti.subscribe(&state.subscriber, Ignore, nullptr) != 0) return -4;
  state.cupti.unsubscribe(state.subscriber);
  const int status = state.registration.Register(state.cupti, OnBufferRequested, OnBufferCompleted);
  utlz::inject::OtherClient::OnSubscription(GiveWay);
  utlz::inject::OtherClient::OnRegistration(EmptyBuffers);
  state.other.WatchImporters(state.cupti, &state.turn);
  return status;
}

const char* switching_cupti(void) { return state.cupti.path; }

// Why there are no stacks; 0: there are.
int switching_open_python(void) {
  const NoStack why = utlz::inject::FindPython(&state.layout);
  if (why == NoStack::kNone && !state.frames.Create(state.layout)) return -1;
  state.has_python = why == NoStack::kNone;
  return static_cast<int>(why);
}

void switching_add_module_code(uint64_t code) { state.frames.AddModuleCode(code); }

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
  state.cupti.activity_flush_all(cupti::kFlushForced);
}

int switching_load(const char* what, const char* cubin) {
  const std::string load = what;
  if (const int status = OpenDriver(cubin); status != 0) return status;
  const bool all = load == "mixed";
  if (all || load == "kernels") StartLoad(LaunchKernels), StartLoad(LaunchKernels);
  if (all || load == "sets") StartLoad(SetMemory), StartLoad(SetMemory);
  if (all || load == "graphs") StartLoad(LaunchGraphs), StartLoad(LaunchGraphs);
  if (all || load == "threads") StartLoad(LaunchFromNewThreads), StartLoad(LaunchFromNewThreads);
  return 0;
}

void switching_end_load(void) {
  state.loads_stopping = true;
  for (std::thread& load : state.loads) load.join();
}

uint64_t switching_count(int what) { return counts[what]; }

uint32_t switching_took_ns(int step, double share) {
  std::vector<uint32_t>& took = state.took_ns[step];
  if (took.empty()) return 0;
  std::sort(took.begin(), took.end());
  return took[std::min(took.size() - 1, static_cast<size_t>(share * static_cast<double>(took.size())))];
}

// Returns how many slots were pointed at observers.
int switching_watch_captures(void) {
  uintptr_t modules[256];
  const uint32_t count = utlz::inject::FindDependents("libcudart.so", modules, 256);
  int slots = 0;
  for (uint32_t i = 0; i < count; ++i) {
    slots += Redirect(modules[i], "cudaStreamBeginCapture", &real_begin, ObserveBegin);
    slots += Redirect(modules[i], "cudaStreamEndCapture", &real_end, ObserveEnd);
    slots += Redirect(modules[i], "cudaGraphInstantiate", &real_instantiate, ObserveInstantiate);
    slots += Redirect(modules[i], "cudaGraphInstantiateWithFlags", &real_instantiate_with_flags,
                      ObserveInstantiateWithFlags);
  }
  return slots;
}

// Records of what runs from now on, without switching.
void switching_record(int on) {
  SwitchKinds(on != 0);
  if (on == 0) state.cupti.activity_flush_all(cupti::kFlushForced);
}

// Stacks that have `part` in their text; all of them where it is empty.
uint64_t switching_stacks(const char* part) {
  ResolveNewStacks();
  uint64_t count = 0;
  for (const auto& entry : state.texts) count += entry.second.find(part) != std::string::npos;
  return count;
}

// Nodes of captures whose clone has a stack with `part` in it.
uint64_t switching_clones_with(const char* part) {
  ResolveNewStacks();
  const std::lock_guard lock(state.nodes_lock);
  uint64_t count = 0;
  for (const auto& entry : state.originals) {
    const auto stack = state.node_stacks.find(entry.second);
    if (stack == state.node_stacks.end()) continue;
    count += state.texts[stack->second].find(part) != std::string::npos;
  }
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
