#include "inject/tracing/capture_watch.h"

#include <dlfcn.h>

#include <atomic>
#include <iterator>

#include "inject/tracing/import_slot.h"

namespace utlz::agent {
namespace {

using Result = int32_t;  // cudaError_t
using BeginCapture = Result (*)(void* stream, int mode);
using BeginCaptureToGraph = Result (*)(void* stream, void* graph, const void* dependencies,
                                       const void* edges, uint64_t count, int mode);
using EndCapture = Result (*)(void* stream, void** graph);
// Five arguments before CUDA 12, three since: who takes three leaves the others alone.
using Instantiate = Result (*)(void** executable, void* graph, uint64_t third, uint64_t fourth,
                               uint64_t fifth);

// Plain functions stand in the slots, so what they need cannot be passed to them. One of each for
// each name, as a runtime has them for both meanings of the default stream, and for each runtime: a
// process may load several, each called by the modules that are linked to it.
std::atomic<CaptureWatch::Tell> tell{nullptr};
std::atomic<uint32_t> open_captures{0};

void Say(CaptureEvent event) {
  if (const CaptureWatch::Tell say = tell.load(std::memory_order_acquire)) say(event);
}

void Opened() { open_captures.fetch_add(1, std::memory_order_relaxed); }

void Closed() {
  uint32_t open = open_captures.load(std::memory_order_relaxed);
  // One that began before it was watched may end.
  while (open > 0 && !open_captures.compare_exchange_weak(open, open - 1)) {
  }
}

enum Name {
  kBegin,
  kBeginPerThread,
  kBeginToGraph,
  kBeginToGraphPerThread,
  kEnd,
  kEndPerThread,
  kInstantiate,
  kInstantiateWithFlags,
  kInstantiateWithParams,
  kInstantiateWithParamsPerThread,
  kNames
};
// Of the releases that PyTorch and others are linked to.
constexpr const char* kRuntimes[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
constexpr uint32_t kRuntimeCount = std::size(kRuntimes);
std::atomic<void*> real_functions[kRuntimeCount][kNames];

template <typename Function>
Function Real(uint32_t runtime, Name name) {
  return reinterpret_cast<Function>(real_functions[runtime][name].load(std::memory_order_relaxed));
}

template <uint32_t runtime, Name name>
Result ObserveBegin(void* stream, int mode) {
  Opened();
  Say(CaptureEvent::kBegins);
  const Result result = Real<BeginCapture>(runtime, name)(stream, mode);
  if (result != 0) Closed();
  return result;
}

template <uint32_t runtime, Name name>
Result ObserveBeginToGraph(void* stream, void* graph, const void* dependencies, const void* edges,
                           uint64_t count, int mode) {
  Opened();
  Say(CaptureEvent::kBegins);
  const Result result =
      Real<BeginCaptureToGraph>(runtime, name)(stream, graph, dependencies, edges, count, mode);
  if (result != 0) Closed();
  return result;
}

template <uint32_t runtime, Name name>
Result ObserveEnd(void* stream, void** graph) {
  const Result result = Real<EndCapture>(runtime, name)(stream, graph);
  Closed();
  return result;
}

template <uint32_t runtime, Name name>
Result ObserveInstantiate(void** executable, void* graph, uint64_t third, uint64_t fourth,
                          uint64_t fifth) {
  Say(CaptureEvent::kInstantiates);
  const Result result = Real<Instantiate>(runtime, name)(executable, graph, third, fourth, fifth);
  Say(CaptureEvent::kInstantiated);
  return result;
}

struct Watched {
  const char* symbol;
  void* observer;
};

template <typename Function>
void* Address(Function function) {
  return reinterpret_cast<void*>(function);
}

// In the order of Name.
template <uint32_t runtime>
const Watched kOfRuntime[kNames] = {
    {"cudaStreamBeginCapture", Address(ObserveBegin<runtime, kBegin>)},
    {"cudaStreamBeginCapture_ptsz", Address(ObserveBegin<runtime, kBeginPerThread>)},
    {"cudaStreamBeginCaptureToGraph", Address(ObserveBeginToGraph<runtime, kBeginToGraph>)},
    {"cudaStreamBeginCaptureToGraph_ptsz",
     Address(ObserveBeginToGraph<runtime, kBeginToGraphPerThread>)},
    {"cudaStreamEndCapture", Address(ObserveEnd<runtime, kEnd>)},
    {"cudaStreamEndCapture_ptsz", Address(ObserveEnd<runtime, kEndPerThread>)},
    {"cudaGraphInstantiate", Address(ObserveInstantiate<runtime, kInstantiate>)},
    {"cudaGraphInstantiateWithFlags", Address(ObserveInstantiate<runtime, kInstantiateWithFlags>)},
    {"cudaGraphInstantiateWithParams",
     Address(ObserveInstantiate<runtime, kInstantiateWithParams>)},
    {"cudaGraphInstantiateWithParams_ptsz",
     Address(ObserveInstantiate<runtime, kInstantiateWithParamsPerThread>)},
};
const Watched* const kWatched[kRuntimeCount] = {kOfRuntime<0>, kOfRuntime<1>, kOfRuntime<2>};

constexpr uint32_t kMostModules = 64;

// A large module has a million relocations: each is looked through once.
bool IsWatched(uintptr_t module) {
  static uintptr_t watched[kMostModules];
  static uint32_t count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (watched[i] == module) return true;
  }
  if (count < kMostModules) watched[count++] = module;
  return false;
}

void WatchModule(uint32_t runtime, uintptr_t module) {
  if (IsWatched(module)) return;
  for (uint32_t name = 0; name < kNames; ++name) {
    if (real_functions[runtime][name].load(std::memory_order_relaxed) == nullptr) continue;
    const Watched& watched = kWatched[runtime][name];
    void** const slot = FindImportSlot(module, watched.symbol);
    if (slot != nullptr) SetImportSlot(slot, watched.observer);
  }
}

// Whether the runtime is loaded. From then on it stays loaded.
bool FindRuntime(uint32_t runtime) {
  static bool found[kRuntimeCount];
  if (found[runtime]) return true;
  void* const library = dlopen(kRuntimes[runtime], RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  found[runtime] = true;
  for (uint32_t name = 0; name < kNames; ++name) {
    real_functions[runtime][name].store(dlsym(library, kWatched[runtime][name].symbol));
  }
  return true;
}

void WatchImportersOf(uint32_t runtime) {
  if (!FindRuntime(runtime)) return;
  uintptr_t importers[kMostModules];
  const uint32_t count = FindDependents(kRuntimes[runtime], importers, kMostModules);
  for (uint32_t i = 0; i < count; ++i) WatchModule(runtime, importers[i]);
}

}  // namespace

bool CaptureWatch::TakeNewModules() {
  const uint64_t modules = ModulesEverLoaded();
  const bool is_new = modules != modules_seen_;
  modules_seen_ = modules;
  return is_new;
}

void CaptureWatch::WatchImporters(Tell whom) {
  tell.store(whom, std::memory_order_release);
  for (uint32_t runtime = 0; runtime < kRuntimeCount; ++runtime) WatchImportersOf(runtime);
}

uint32_t CaptureWatch::Open() { return open_captures.load(std::memory_order_relaxed); }

}  // namespace utlz::agent
