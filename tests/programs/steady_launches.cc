// Launches more than an overhead budget lets anyone trace, for as many seconds as the argument
// says: kernels of their own, a graph and a set in every step, and twice as many in every other
// half a second or so. Then, for as many seconds as a second argument says, it does nothing. Its
// counts are known.
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <vector>

#include "tests/fakes/simulated_gpu.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr uint64_t kEager = 240;
constexpr uint64_t kNodes = 80;
constexpr uint64_t kPhaseNs = 500'000'000;
constexpr uint64_t kPauseNs = 200'000;

CUgraphExec CaptureGraph(const Target& target, CUstream stream) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  Check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  for (uint64_t i = 0; i < kNodes; ++i) {
    Check(cuLaunchKernel(target.Function(1), 8, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr),
          "cuLaunchKernel");
  }
  Check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  Check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  Check(cuGraphDestroy(graph), "cuGraphDestroy");
  return exec;
}

int Run(double seconds, double idle_seconds) {
  static const std::vector<KernelImage> kernels = {{.name = "_Z5eagerPf", .duration_ns = 500},
                                                   {.name = "_Z4nodePf", .duration_ns = 500}};
  Target target(kernels);
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  Check(cuStreamCreate(&stream, 0), "cuStreamCreate");
  Check(cuMemAlloc_v2(&memory, 4096), "cuMemAlloc");
  const CUgraphExec exec = CaptureGraph(target, stream);
  const uint64_t begin_ns = NowNs(), end_ns = begin_ns + static_cast<uint64_t>(seconds * 1e9);
  uint64_t steps = 0;
  for (; NowNs() < end_ns; ++steps) {
    for (uint64_t i = 0; i < kEager; ++i) {
      Check(cuLaunchKernel(target.Function(0), 4, 1, 1, 128, 1, 1, 0, stream, nullptr, nullptr),
            "cuLaunchKernel");
    }
    Check(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    Check(cuMemsetD8Async(memory, 0, 4096, stream), "cuMemsetD8Async");
    Check(cuStreamSynchronize(stream), "cuStreamSynchronize");
    const uint64_t slower = (NowNs() - begin_ns) / kPhaseNs % 2;
    const timespec pause{0, static_cast<long>(kPauseNs << slower)};
    nanosleep(&pause, nullptr);
  }
  usleep(static_cast<useconds_t>(idle_seconds * 1e6));
  target.expectation.CountLaunches(target.Image(0), steps * kEager);
  target.expectation.CountLaunches(target.Image(1), steps * kNodes);
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) {
  return utlz::fake::Run(argc > 1 ? std::atof(argv[1]) : 4.0, argc > 2 ? std::atof(argv[2]) : 0);
}
