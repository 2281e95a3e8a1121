// The fake libcupti's way to the fake libcuda: found at run time, as CUPTI finds the driver.
#ifndef UTLZ_TESTS_FAKES_CUDA_LINK_H_
#define UTLZ_TESTS_FAKES_CUDA_LINK_H_

#include <cstdint>

#include "tests/fakes/observer.h"

namespace utlz::fake {

struct CudaLink {
  decltype(&FakeCudaSetObserver) set_observer = nullptr;
  decltype(&FakeCudaDescribeContext) describe_context = nullptr;
  decltype(&FakeCudaStreamId) stream_id = nullptr;
  decltype(&FakeCudaStreamPriority) stream_priority = nullptr;
  decltype(&FakeCudaGraphNodeId) graph_node_id = nullptr;
  decltype(&FakeCudaGraphId) graph_id = nullptr;
  decltype(&FakeCudaGraphExecId) graph_exec_id = nullptr;
  decltype(&FakeCudaDrainContext) drain_context = nullptr;
  decltype(&FakeCudaInitializedPid) initialized_pid = nullptr;
  decltype(&FakeCudaHasContext) has_context = nullptr;
};

// nullptr where no driver is found.
const CudaLink* FindCuda();

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_CUDA_LINK_H_
