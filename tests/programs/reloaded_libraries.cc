// Loads the driver and CUPTI with dlopen, closes them, loads them again and keeps working, as
// plug-in hosts do. Linked to neither.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/fakes/cuda_types.h"
#include "tests/fakes/fake_cuda.h"

// Libraries that are gone cannot be searched for leaks: AddressSanitizer, where there is one, asks.
extern "C" const char* __lsan_default_options() { return "detect_leaks=0"; }

namespace utlz::fake {
namespace {

constexpr int kLaunches = 40;
constexpr KernelImage kKernel = {.name = "_Z6pluginPf", .duration_ns = 30'000};

template <typename Function>
Function Find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) std::_Exit(5);
  return reinterpret_cast<Function>(found);
}

void Require(CUresult result) {
  if (result != CUDA_SUCCESS) std::_Exit(3);
}

void Work(void* driver) {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const ModuleImage image = {.kernel_count = 1, .kernels = &kKernel};
  Require(Find<CUresult (*)(unsigned int)>(driver, "cuInit")(0));
  Require(
      Find<CUresult (*)(CUcontext*, CUdevice)>(driver, "cuDevicePrimaryCtxRetain")(&context, 0));
  Require(Find<CUresult (*)(CUcontext)>(driver, "cuCtxSetCurrent")(context));
  Require(Find<CUresult (*)(CUmodule*, const void*)>(driver, "cuModuleLoadData")(&module, &image));
  Require(Find<CUresult (*)(CUfunction*, CUmodule, const char*)>(
      driver, "cuModuleGetFunction")(&function, module, kKernel.name));
  const auto launch =
      Find<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void**, void**)>(driver, "cuLaunchKernel");
  for (int i = 0; i < kLaunches; ++i) {
    Require(launch(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
  }
  Require(Find<CUresult (*)()>(driver, "cuCtxSynchronize")());
}

int Run() {
  constexpr int kRounds = 5;
  for (int i = 0; i < kRounds; ++i) {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) return 4;
    Work(driver);
    void* cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_LOCAL);
    dlclose(driver);
    if (cupti != nullptr) dlclose(cupti);
  }
  std::printf("{\"launches\":%d,\"kernels\":{\"%s\":%d}}\n", kRounds * kLaunches, kKernel.name,
              kRounds * kLaunches);
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
