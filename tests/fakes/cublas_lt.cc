// A libcublasLt whose products are kernels of the fake GPU: each takes two milliseconds, whatever
// its size. It has no products of FP8.
#include <cstddef>
#include <cstdint>

#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/fake_cuda.h"

namespace utlz::fake {
namespace {

constexpr int kNotSupported = 15;
constexpr int kFloat8E4m3 = 28;
constexpr int kExecutionFailed = 13;

constexpr KernelImage kProduct[] = {{.name = "fake_product", .duration_ns = 2'000'000}};
constexpr ModuleImage kModule = {.kernel_count = 1, .kernels = kProduct};

struct Layout {
  int data_type;
};

struct HeuristicResult {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

int object;

int Make(void** made) {
  *made = &object;
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cublasLtCreate(void** handle) { return Make(handle); }
int cublasLtDestroy(void*) { return 0; }
size_t cublasLtGetVersion() { return 130000; }
int cublasLtMatmulDescCreate(void** description, int, int) { return Make(description); }
int cublasLtMatmulDescDestroy(void*) { return 0; }
int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t) { return 0; }

int cublasLtMatrixLayoutCreate(void** layout, int data_type, uint64_t, uint64_t, int64_t) {
  *layout = new Layout{data_type};
  return 0;
}

int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<Layout*>(layout);
  return 0;
}

int cublasLtMatmulPreferenceCreate(void** preference) { return Make(preference); }
int cublasLtMatmulPreferenceDestroy(void*) { return 0; }
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t) { return 0; }

int cublasLtMatmulAlgoGetHeuristic(void*, void*, void* a, void*, void*, void*, void*, int,
                                   HeuristicResult* results, int* returned) {
  if (static_cast<Layout*>(a)->data_type == kFloat8E4m3) return kNotSupported;
  results[0] = {};
  results[1] = {};
  results[1].state = kNotSupported;
  *returned = 2;
  return 0;
}

int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                   const void*, void*, void*, void*, const void*, void*, size_t, CUstream stream) {
  static CUmodule module = nullptr;  // kept, for what is in it is
  static CUfunction function = [] {
    CUfunction found = nullptr;
    cuModuleLoadData(&module, &kModule);
    cuModuleGetFunction(&found, module, kProduct[0].name);
    return found;
  }();
  const CUresult result =
      cuLaunchKernel(function, 1000, 1, 1, 128, 1, 1, 0, stream, nullptr, nullptr);
  return result == CUDA_SUCCESS ? 0 : kExecutionFailed;
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace utlz::fake
