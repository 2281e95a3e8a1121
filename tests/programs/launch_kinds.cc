// Every way to launch a kernel: plain, in clusters, cooperative by either call, and from the
// device.
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr KernelImage kChild = {.name = "_Z5childPf", .duration_ns = 5'000};

const std::vector<KernelImage>& Kernels() {
  static const std::vector<KernelImage> kernels = {
      {.name = "_Z5plainPf", .duration_ns = 20'000},
      {.name = "_Z7clusterPf", .duration_ns = 30'000},
      {.name = "_Z11cooperativePf", .duration_ns = 40'000},
      {.name = "_Z6parentPf",
       .duration_ns = 50'000,
       .device_launches = 3,
       .device_child = &kChild},
  };
  return kernels;
}

void LaunchCluster(Target* target, unsigned int width) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {width, 1, 1};
  const CUlaunchConfig config = {.gridDimX = 8,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 256,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .sharedMemBytes = 0,
                                 .hStream = nullptr,
                                 .attrs = &attribute,
                                 .numAttrs = 1};
  Check(cuLaunchKernelEx(&config, target->Function(1), nullptr, nullptr), "cuLaunchKernelEx");
  target->expectation.CountLaunches(target->Image(1), 1);
}

int Run() {
  Target target(Kernels());
  for (int i = 0; i < 20; ++i) {
    target.Launch(0);
    LaunchCluster(&target, 2);
    LaunchCluster(&target, 4);
    Check(cuLaunchCooperativeKernel(target.Function(2), 4, 1, 1, 128, 1, 1, 0, nullptr, nullptr),
          "cuLaunchCooperativeKernel");
    target.expectation.CountLaunches(target.Image(2), 1);
    target.Launch(3);
    target.expectation.CountLaunches(kChild, 3);
  }
  target.Synchronize();
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
