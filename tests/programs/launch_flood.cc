// Launches as fast as they can be made: steps of 12 kernels in 40 shapes and a replayed graph, for
// as many millions of launches as the argument says. Early on, the collector is stopped for long
// enough that the ring cannot hold what comes, and then goes on.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr size_t kKernels = 12;
constexpr uint64_t kEagerInStep = 80;
constexpr uint64_t kNodesInGraph = 60;
constexpr uint64_t kStepLaunches = kEagerInStep + kNodesInGraph;
constexpr uint64_t kFlushLaunches = 500'000;
constexpr uint64_t kStoppedLaunches = 8'000'000;

const std::vector<KernelImage>& Kernels() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (size_t i = 0; i < kKernels; ++i) {
      std::string name = "_ZN2at6native29vectorized_elementwise_kernel";
      name.append(40 + 9 * i, 'x');
      made.push_back(name + std::to_string(i));
    }
    return made;
  }();
  static const std::vector<KernelImage> kernels = [] {
    std::vector<KernelImage> made;
    for (size_t i = 0; i < kKernels; ++i) {
      made.push_back({.name = names[i].c_str(), .duration_ns = 100 + 20 * i});
    }
    return made;
  }();
  return kernels;
}

CUgraphExec CaptureGraph(const Target& target, CUstream stream) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  Check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  for (uint64_t i = 0; i < kNodesInGraph; ++i) {
    Check(cuLaunchKernel(target.Function(i % kKernels), 8, 1, 1, 64, 1, 1, 0, stream, nullptr,
                         nullptr),
          "cuLaunchKernel");
  }
  Check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  Check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  Check(cuGraphDestroy(graph), "cuGraphDestroy");
  return exec;
}

// The stand-in for CUPTI holds any number of records; what is waiting there is not the agent's.
void FlushCupti() {
  using FlushAll = int (*)(uint32_t);
  static const auto flush_all = [] {
    void* cupti = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_NOW);
    return cupti == nullptr ? nullptr
                            : reinterpret_cast<FlushAll>(dlsym(cupti, "cuptiActivityFlushAll"));
  }();
  if (flush_all != nullptr) flush_all(0);
}

int Run(uint64_t launches) {
  Target target(Kernels());
  CUstream stream = nullptr;
  Check(cuStreamCreate(&stream, 0), "cuStreamCreate");
  const CUgraphExec exec = CaptureGraph(target, stream);
  const uint64_t steps = launches / kStepLaunches;
  const uint64_t stop_at = steps / 10, go_on_at = stop_at + kStoppedLaunches / kStepLaunches;
  for (uint64_t step = 0; step < steps; ++step) {
    if (step == stop_at) kill(getppid(), SIGSTOP);
    if (step == go_on_at) kill(getppid(), SIGCONT);
    for (uint64_t i = 0; i < kEagerInStep; ++i) {
      Check(cuLaunchKernel(target.Function(i % kKernels), 1 + static_cast<unsigned>(i % 40), 1, 1,
                           128, 1, 1, 0, stream, nullptr, nullptr),
            "cuLaunchKernel");
    }
    Check(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    Check(cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (step % (kFlushLaunches / kStepLaunches) == 0) FlushCupti();
  }
  kill(getppid(), SIGCONT);
  for (size_t kernel = 0; kernel < kKernels; ++kernel) {
    const uint64_t eager = kEagerInStep / kKernels + (kernel < kEagerInStep % kKernels ? 1 : 0);
    target.expectation.CountLaunches(target.Image(kernel),
                                     steps * (eager + kNodesInGraph / kKernels));
  }
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) {
  return utlz::fake::Run((argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1) * 1'000'000);
}
