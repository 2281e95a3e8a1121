// utlz-demo-load [SECONDS]: works on the first GPU for a few seconds.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "collector/sampler/driver/cuda_driver.h"
#include "tools/demo_load/load.h"

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 3.0;
  utlz::CudaDriver driver{};
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const char* missing =
      library == nullptr ? "libcuda.so.1" : utlz::FindCudaFunctions(library, &driver);
  if (missing != nullptr) {
    std::fprintf(stderr, "utlz-demo-load: no usable CUDA driver: %s is missing\n", missing);
    return 1;
  }
  utlz::DemoLoad load(driver);
  if (!load.Prepare()) {
    std::fprintf(stderr, "utlz-demo-load: %s\n", load.error().c_str());
    return 1;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  int steps = 0;
  do {
    if (!load.Step()) {
      std::fprintf(stderr, "utlz-demo-load: %s\n", load.error().c_str());
      return 1;
    }
    ++steps;
  } while (Clock::now() < end);
  std::printf("%d steps on %s\n", steps, load.device_name().c_str());
  return 0;
}
