// CUDA graphs. Argument:
//   replay       a captured graph, replayed, in an NVTX range
//   update       a graph whose nodes change in place between replays, by both calls
//   conditional  a graph whose conditional body runs a different number of times at each replay
#include <string>

#include "tests/programs/nvtx_client.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

CUDA_KERNEL_NODE_PARAMS NodeOf(const Target& target, size_t kernel) {
  return {.func = target.Function(kernel),
          .gridDimX = 16,
          .gridDimY = 1,
          .gridDimZ = 1,
          .blockDimX = 256,
          .blockDimY = 1,
          .blockDimZ = 1,
          .sharedMemBytes = 0,
          .kernelParams = nullptr,
          .extra = nullptr,
          .kern = nullptr,
          .ctx = nullptr};
}

void Replay(Target* target) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  Check(cuStreamCreate(&stream, 0), "cuStreamCreate");
  Check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  for (int i = 0; i < 10; ++i) {
    for (size_t kernel : {0, 1, 2}) {
      Check(cuLaunchKernel(target->Function(kernel), 8, 1, 1, 64, 1, 1, 0, stream, nullptr,
                           nullptr),
            "cuLaunchKernel");
    }
  }
  Check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  Check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  Check(cuGraphDestroy(graph), "cuGraphDestroy");
  NvtxPush("replay");
  for (int i = 0; i < 40; ++i) {
    Check(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    for (size_t kernel : {0, 1, 2}) {
      target->expectation.CountLaunches(target->Image(kernel), 10);
    }
  }
  NvtxPop();
  Check(cuStreamSynchronize(stream), "cuStreamSynchronize");
  Check(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
}

CUgraph TwoNodes(const Target& target, size_t first, size_t second, CUgraphNode* first_node) {
  CUgraph graph = nullptr;
  CUgraphNode second_node = nullptr;
  const CUDA_KERNEL_NODE_PARAMS one = NodeOf(target, first);
  const CUDA_KERNEL_NODE_PARAMS two = NodeOf(target, second);
  Check(cuGraphCreate(&graph, 0), "cuGraphCreate");
  Check(cuGraphAddKernelNode_v2(first_node, graph, nullptr, 0, &one), "cuGraphAddKernelNode");
  Check(cuGraphAddKernelNode_v2(&second_node, graph, first_node, 1, &two), "cuGraphAddKernelNode");
  return graph;
}

void LaunchTimes(CUgraphExec exec, Target* target, size_t first, size_t second, uint64_t times) {
  for (uint64_t i = 0; i < times; ++i) Check(cuGraphLaunch(exec, nullptr), "cuGraphLaunch");
  target->expectation.CountLaunches(target->Image(first), times);
  target->expectation.CountLaunches(target->Image(second), times);
  target->Synchronize();
}

void Update(Target* target) {
  CUgraphNode node = nullptr;
  CUgraphNode unused = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphExecUpdateResultInfo info{};
  CUgraph graph = TwoNodes(*target, 0, 1, &node);
  Check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  LaunchTimes(exec, target, 0, 1, 20);
  CUgraph other = TwoNodes(*target, 2, 0, &unused);
  Check(cuGraphExecUpdate_v2(exec, other, &info), "cuGraphExecUpdate");
  LaunchTimes(exec, target, 2, 0, 30);
  const CUDA_KERNEL_NODE_PARAMS changed = NodeOf(*target, 1);
  Check(cuGraphExecKernelNodeSetParams_v2(exec, node, &changed), "cuGraphExecKernelNodeSetParams");
  LaunchTimes(exec, target, 1, 0, 15);
}

void Conditional(Target* target) {
  CUgraph graph = nullptr;
  CUgraph body = nullptr;
  CUgraphNode first = nullptr;
  CUgraphNode loop = nullptr;
  CUgraphNode inner = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphConditionalHandle handle = 0;
  const CUDA_KERNEL_NODE_PARAMS before = NodeOf(*target, 0);
  const CUDA_KERNEL_NODE_PARAMS inside = NodeOf(*target, 2);
  Check(cuGraphCreate(&graph, 0), "cuGraphCreate");
  Check(cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0), "conditional handle");
  Check(cuGraphAddKernelNode_v2(&first, graph, nullptr, 0, &before), "cuGraphAddKernelNode");
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional = {handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body, nullptr};
  Check(cuGraphAddNode_v2(&loop, graph, &first, nullptr, 1, &params), "cuGraphAddNode");
  Check(cuGraphAddKernelNode_v2(&inner, body, nullptr, 0, &inside), "cuGraphAddKernelNode");
  Check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  for (uint32_t runs = 0; runs < 20; ++runs) {
    FakeCudaSetConditionalRuns(handle, runs);
    Check(cuGraphLaunch(exec, nullptr), "cuGraphLaunch");
    target->expectation.CountLaunches(target->Image(0), 1);
    target->expectation.CountLaunches(target->Image(2), runs);
  }
  target->Synchronize();
}

int Run(const std::string& way) {
  Target target(CommonKernels());
  if (way == "replay") {
    Replay(&target);
  } else if (way == "update") {
    Update(&target);
  } else {
    Conditional(&target);
  }
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) { return utlz::fake::Run(argc > 1 ? argv[1] : "replay"); }
