// Captures: imports of the CUDA runtime's functions lead to observers, which subscribe to callbacks
// of graph nodes for the capture alone.
#include <pthread.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "bench/gpu/stack_switching.h"
#include "inject/tracing/import_slot.h"

namespace switching {
namespace {

using utlz::agent::NoStack;
namespace cupti = utlz::agent::cupti;

constexpr uint32_t kNodeCreated = 13, kNodeCloned = 20;

struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;
};
struct GraphData {
  void *graph, *original_graph, *node, *original_node;
};

// Never destroyed, like what is shared.
struct Nodes {
  std::mutex lock;
  std::map<uint64_t, uint64_t> originals;  // a clone's number: that of what it was cloned from
  std::map<uint64_t, uint64_t> stacks;
  cupti::Result (*number)(void*, uint64_t*) = nullptr;
  cupti::Subscriber subscriber = nullptr;
};
Nodes& nodes = *new Nodes;

void OnNode(uint32_t id, const GraphData& graph) {
  uint64_t node = 0, original = 0;
  if (nodes.number == nullptr || nodes.number(graph.node, &node) != 0) return;
  const std::lock_guard lock(nodes.lock);
  if (id == kNodeCloned) {
    Add(kCloned);
    if (nodes.number(graph.original_node, &original) == 0) nodes.originals[node] = original;
    return;
  }
  Add(kCreated);
  if (!shared.has_python) return;
  const utlz::agent::PythonWalk walk = shared.frames.Walk();
  if (walk.why != NoStack::kNone) return;
  Add(kCreatedWithStack);
  nodes.stacks.emplace(node, walk.hash);  // the first one: what comes again is a clone
}

using BeginCapture = int (*)(void*, int);
using EndCapture = int (*)(void*, void**);
using Instantiate = int (*)(void**, void*, unsigned long long);
BeginCapture real_begin;
EndCapture real_end;
Instantiate real_instantiate, real_instantiate_with_flags;

void WatchNodes() {
  pthread_mutex_lock(&shared.turn);
  const bool busy = shared.subscribed || nodes.subscriber != nullptr;
  if (!busy && shared.cupti.subscribe(&nodes.subscriber, OnCallback, nullptr) == 0) {
    for (const uint32_t id : {kNodeCreated, kNodeCloned}) {
      shared.cupti.enable_callback(1, nodes.subscriber, kResourceDomain, id);
    }
  } else if (!busy) {
    nodes.subscriber = nullptr;
    Add(kCaptureRefused);
  }
  pthread_mutex_unlock(&shared.turn);
}

void LeaveNodes() {
  pthread_mutex_lock(&shared.turn);
  if (nodes.subscriber != nullptr) {
    for (const uint32_t id : {kNodeCreated, kNodeCloned}) {
      shared.cupti.enable_callback(0, nodes.subscriber, kResourceDomain, id);
    }
    shared.cupti.unsubscribe(nodes.subscriber);
    nodes.subscriber = nullptr;
  }
  pthread_mutex_unlock(&shared.turn);
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
  void** const slot = utlz::agent::FindImportSlot(module, name);
  if (slot == nullptr || *slot == reinterpret_cast<void*>(observer)) return 0;
  *real = reinterpret_cast<Function>(*slot);
  return utlz::agent::SetImportSlot(slot, reinterpret_cast<void*>(observer)) ? 1 : 0;
}

}  // namespace

void FindNodeNumbers() { Find(shared.cupti.library, "cuptiGetGraphNodeId", &nodes.number); }

void OnResource(uint32_t id, const void* data) {
  if (id != kNodeCreated && id != kNodeCloned) return;
  OnNode(id, *static_cast<const GraphData*>(static_cast<const ResourceData*>(data)->descriptor));
}

bool HasStack(uint64_t graph_node_id) {
  const std::lock_guard lock(nodes.lock);
  const auto clone = nodes.originals.find(graph_node_id);
  return clone != nodes.originals.end() && nodes.stacks.count(clone->second) != 0;
}

}  // namespace switching

using namespace switching;

extern "C" {

// Returns how many slots were pointed at observers.
int switching_watch_captures(void) {
  uintptr_t modules[256];
  const uint32_t count = utlz::agent::FindDependents("libcudart.so", modules, 256);
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

// Nodes of captures whose clone has a stack with `part` in it.
uint64_t switching_clones_with(const char* part) {
  ResolveNewStacks();
  const std::lock_guard lock(nodes.lock);
  uint64_t count = 0;
  for (const auto& entry : nodes.originals) {
    const auto stack = nodes.stacks.find(entry.second);
    if (stack == nodes.stacks.end()) continue;
    count += TextOf(stack->second).find(part) != std::string::npos;
  }
  return count;
}

}  // extern "C"
