// What the files of the library that stack_switching.py loads share: the counts, the agent's parts,
// and how windows (stack_switching.cc) and captures (stack_switching_captures.cc) use each other.
// The loads (stack_switching_loads.cc) use the counts alone.
#ifndef UTLZ_BENCH_GPU_STACK_SWITCHING_H_
#define UTLZ_BENCH_GPU_STACK_SWITCHING_H_

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "inject/driver/cupti_api.h"
#include "inject/python/python_frames.h"

namespace switching {

// What switching_count returns, in this order.
enum Count {
  kWindows, kRefused, kRefusedCode, kCallbacks, kLateCallbacks, kInFlight, kKernels, kJoined,
  kNodeKernels, kNodesJoined, kWalks, kNoWalks, kGaveWay, kTaken, kBegins, kEnds, kInstantiations,
  kCreated, kCloned, kCreatedWithStack, kCaptureRefused, kFailures, kCounts
};
extern std::atomic<uint64_t> counts[kCounts];
inline void Add(Count what) { counts[what].fetch_add(1, std::memory_order_relaxed); }

// The agent's parts that both windows and captures use.
struct Shared {
  utlz::agent::CuptiApi cupti{};
  utlz::agent::PythonLayout layout;
  utlz::agent::PythonFrames frames;
  pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> subscribed{false}, has_python{false};
};
extern Shared& shared;  // never destroyed: callbacks may come until the process ends

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// Of windows.

// CUPTI calls this at each launch, once a window or a capture has subscribed with it.
void OnCallback(void* user, uint32_t domain, uint32_t id, const void* data);
// Names stacks that are new.
void ResolveNewStacks();
// The frames of a stack that was resolved, one a line; empty for others.
std::string TextOf(uint64_t stack);

// Of captures.

inline constexpr uint32_t kResourceDomain = 3;
// Once, when shared.cupti is filled in.
void FindNodeNumbers();
// A callback of the resource domain.
void OnResource(uint32_t id, const void* data);
// Whether the node that this one was cloned from was created with a stack.
bool HasStack(uint64_t graph_node_id);

}  // namespace switching

#endif  // UTLZ_BENCH_GPU_STACK_SWITCHING_H_
