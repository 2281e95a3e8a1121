// How the fake libcuda tells the fake libcupti what happens. One observer a process; calls come on
// the application's threads, with no lock of libcuda held.
#ifndef UTLZ_TESTS_FAKES_OBSERVER_H_
#define UTLZ_TESTS_FAKES_OBSERVER_H_

#include <cstdint>

#include "tests/fakes/cuda_types.h"
#include "tests/fakes/fake_cuda.h"

namespace utlz::fake {

struct Place {
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint64_t graph_node;  // 0: not of a graph
  uint32_t graph;
  uint64_t start_ns;
  uint64_t end_ns;
  RecordFate fate;
};

struct KernelRun {
  Place place;
  const KernelImage* image;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3];
  uint32_t dynamic_shared_bytes;
  uint64_t grid_id;
  bool cooperative;
  bool device_launched;
};

// Numbers of CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind.
struct CopyRun {
  Place place;
  uint64_t bytes;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  bool asynchronous;
};

struct SetRun {
  Place place;
  uint64_t bytes;
  uint32_t value;
  bool asynchronous;
};

struct ApiCall {
  bool exit;
  uint32_t callback_id;
  const char* name;
  const void* params;
  CUresult* result;  // meaningful on exit
  CUcontext context;
  uint32_t context_id;
  uint32_t correlation;
  uint64_t* correlation_data;
};

// What CUpti_GraphData needs.
struct GraphEvent {
  CUgraph graph;
  CUgraph original_graph;
  CUgraphNode node;
  CUgraphNode original_node;
  CUgraphNodeType node_type;
  CUgraphExec exec;
};

struct Observer {
  bool (*watches_api)(uint32_t callback_id);
  // Whether a callback came of it.
  bool (*api)(const ApiCall& call);
  // `descriptor` is a GraphEvent for graph events, a module identifier for module events.
  void (*resource)(uint32_t callback_id, CUcontext context, CUstream stream,
                   const void* descriptor);
  void (*synchronized)(uint32_t callback_id, CUcontext context, CUstream stream);
  void (*kernel)(const KernelRun& run);
  void (*copy)(const CopyRun& run);
  void (*set)(const SetRun& run);
  // A whole graph launch; `place.graph_node` is 0.
  void (*graph)(const Place& place);
  // A function is loaded for its first launch.
  void (*function_loaded)(uint32_t context);
};

struct ContextFacts {
  uint32_t id;
  uint32_t device;
  uint32_t null_stream;
};

// What libcupti asks libcuda, by dlsym.
#pragma GCC visibility push(default)
extern "C" {
// False where another libcupti observes already, which goes on for as long as the process lives.
bool FakeCudaSetObserver(const Observer* observer);
bool FakeCudaDescribeContext(CUcontext context, ContextFacts* facts);
uint32_t FakeCudaStreamId(CUcontext context, CUstream stream);
uint32_t FakeCudaStreamPriority(CUstream stream);
uint64_t FakeCudaGraphNodeId(CUgraphNode node);
uint32_t FakeCudaGraphId(CUgraph graph);
uint32_t FakeCudaGraphExecId(CUgraphExec exec);
// Waits until the context is idle, with no callback.
void FakeCudaDrainContext(CUcontext context);
// 0 before cuInit; another process's number after a fork.
int FakeCudaInitializedPid();
bool FakeCudaHasContext();
}
#pragma GCC visibility pop

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_OBSERVER_H_
