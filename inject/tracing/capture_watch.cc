#include "inject/tracing/capture_watch.h"

#include <dlfcn.h>

#include <atomic>

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
// each name: the runtime has them for both meanings of the default stream.
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
std::atomic<void*> real_functions[kNames];

template <typename Function>
Function Real(Name name) {
  return reinterpret_cast<Function>(real_functions[name].load(std::memory_order_relaxed));
}

template <Name name>
Result ObserveBegin(void* stream, int mode) {
  Opened();
  Say(CaptureEvent::kBegins);
  const Result result = Real<BeginCapture>(name)(stream, mode);
  if (result != 0) Closed();
  return result;
}

template <Name name>
Result ObserveBeginToGraph(void* stream, void* graph, const void* dependencies, const void* edges,
                           uint64_t count, int mode) {
  Opened();
  Say(CaptureEvent::kBegins);
  const Result result =
      Real<BeginCaptureToGraph>(name)(stream, graph, dependencies, edges, count, mode);
  if (result != 0) Closed();
  return result;
}

template <Name name>
Result ObserveEnd(void* stream, void** graph) {
  const Result result = Real<EndCapture>(name)(stream, graph);
  Closed();
  return result;
}

template <Name name>
Result ObserveInstantiate(void** executable, void* graph, uint64_t third, uint64_t fourth,
                          uint64_t fifth) {
  Say(CaptureEvent::kInstantiates);
  const Result result = Real<Instantiate>(name)(executable, graph, third, fourth, fifth);
  Say(CaptureEvent::kInstantiated);
  return result;
}

struct Watched {
  Name name;
  const char* symbol;
  void* observer;
};

template <typename Function>
void* Address(Function function) {
  return reinterpret_cast<void*>(function);
}

const Watched kWatched[] = {
    {kBegin, "cudaStreamBeginCapture", Address(ObserveBegin<kBegin>)},
    {kBeginPerThread, "cudaStreamBeginCapture_ptsz", Address(ObserveBegin<kBeginPerThread>)},
    {kBeginToGraph, "cudaStreamBeginCaptureToGraph", Address(ObserveBeginToGraph<kBeginToGraph>)},
    {kBeginToGraphPerThread, "cudaStreamBeginCaptureToGraph_ptsz",
     Address(ObserveBeginToGraph<kBeginToGraphPerThread>)},
    {kEnd, "cudaStreamEndCapture", Address(ObserveEnd<kEnd>)},
    {kEndPerThread, "cudaStreamEndCapture_ptsz", Address(ObserveEnd<kEndPerThread>)},
    {kInstantiate, "cudaGraphInstantiate", Address(ObserveInstantiate<kInstantiate>)},
    {kInstantiateWithFlags, "cudaGraphInstantiateWithFlags",
     Address(ObserveInstantiate<kInstantiateWithFlags>)},
    {kInstantiateWithParams, "cudaGraphInstantiateWithParams",
     Address(ObserveInstantiate<kInstantiateWithParams>)},
    {kInstantiateWithParamsPerThread, "cudaGraphInstantiateWithParams_ptsz",
     Address(ObserveInstantiate<kInstantiateWithParamsPerThread>)},
};

// Of the releases that PyTorch and others are linked to. The first one that is loaded is watched:
// an observer calls one runtime.
constexpr const char* kRuntimes[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};

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

void WatchModule(uintptr_t module) {
  if (IsWatched(module)) return;
  for (const Watched& watched : kWatched) {
    if (real_functions[watched.name].load(std::memory_order_relaxed) == nullptr) continue;
    void** const slot = FindImportSlot(module, watched.symbol);
    if (slot != nullptr) SetImportSlot(slot, watched.observer);
  }
}

// The runtime that is watched, which stays loaded from then on; null where there is none yet.
const char* FindRuntime() {
  static const char* found = nullptr;
  for (const char* name : kRuntimes) {
    if (found != nullptr) break;
    void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    found = name;
    for (const Watched& watched : kWatched) {
      real_functions[watched.name].store(dlsym(library, watched.symbol));
    }
  }
  return found;
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
  const char* const runtime = FindRuntime();
  if (runtime == nullptr) return;
  uintptr_t importers[kMostModules];
  const uint32_t count = FindDependents(runtime, importers, kMostModules);
  for (uint32_t i = 0; i < count; ++i) WatchModule(importers[i]);
}

uint32_t CaptureWatch::Open() { return open_captures.load(std::memory_order_relaxed); }

}  // namespace utlz::agent
