// Launches and copies that fail must neither be counted nor disturb those that follow.
#include <cstdio>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

int Run() {
  Target target(CommonKernels());
  CUdeviceptr memory = 0;
  char host[4096] = {};
  Check(cuMemAlloc_v2(&memory, sizeof(host)), "cuMemAlloc");
  for (int i = 0; i < 20; ++i) {
    target.Launch(2);
    FakeCudaFailNextCall(CUDA_ERROR_LAUNCH_FAILED);
    if (cuLaunchKernel(target.Function(2), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) !=
        CUDA_ERROR_LAUNCH_FAILED) {
      return 5;
    }
    FakeCudaFailNextCall(CUDA_ERROR_INVALID_VALUE);
    if (cuMemcpyHtoD_v2(memory, host, sizeof(host)) != CUDA_ERROR_INVALID_VALUE) return 6;
    Check(cuMemcpyHtoD_v2(memory, host, sizeof(host)), "cuMemcpyHtoD");
    target.expectation.CountCopy(sizeof(host));
  }
  target.Synchronize();
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
