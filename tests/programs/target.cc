#include "tests/programs/target.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

// The programs end with whatever they hold: AddressSanitizer, where there is one, asks.
extern "C" const char* __lsan_default_options() { return "detect_leaks=0"; }

namespace utlz::fake {

void Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s returned %d\n", what, static_cast<int>(result));
  std::_Exit(3);
}

void Expectation::CountLaunches(const KernelImage& kernel, uint64_t launches) {
  const std::lock_guard lock(mutex_);
  launches_[kernel.name] += launches;
  const double times = static_cast<double>(launches);
  flops_ += times * kernel.tensor_flops;
  dram_read_bytes_ += times * kernel.dram_read_bytes;
  dram_write_bytes_ += times * kernel.dram_write_bytes;
}

void Expectation::CountCopy(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  ++copies_;
  copy_bytes_ += bytes;
}

void Expectation::Print() const {
  const std::lock_guard lock(mutex_);
  uint64_t total = 0;
  std::string kernels;
  for (const auto& [name, launches] : launches_) {
    total += launches;
    kernels += (kernels.empty() ? "\"" : ",\"") + name + "\":" + std::to_string(launches);
  }
  char totals[256];
  std::snprintf(totals, sizeof(totals),
                ",\"copies\":%llu,\"copy_bytes\":%llu,\"flops\":%.17g,\"dram_read_bytes\":%.17g,"
                "\"dram_write_bytes\":%.17g}\n",
                static_cast<unsigned long long>(copies_),
                static_cast<unsigned long long>(copy_bytes_), flops_, dram_read_bytes_,
                dram_write_bytes_);
  const std::string line =
      "{\"launches\":" + std::to_string(total) + ",\"kernels\":{" + kernels + "}" + totals;
  if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::_Exit(4);
  }
}

Target::Target(const std::vector<KernelImage>& kernels, int device) : kernels_(kernels) {
  Check(cuInit(0), "cuInit");
  Check(cuDevicePrimaryCtxRetain(&context_, device), "cuDevicePrimaryCtxRetain");
  Check(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
  const ModuleImage image = {.kernel_count = static_cast<uint32_t>(kernels.size()),
                             .kernels = kernels.data()};
  Check(cuModuleLoadData(&module_, &image), "cuModuleLoadData");
  for (const KernelImage& kernel : kernels) {
    CUfunction function = nullptr;
    Check(cuModuleGetFunction(&function, module_, kernel.name), "cuModuleGetFunction");
    functions_.push_back(function);
  }
}

void Target::Launch(size_t kernel, uint64_t times, CUstream stream) {
  for (uint64_t i = 0; i < times; ++i) {
    Check(cuLaunchKernel(functions_[kernel], 8, 4, 2, 128, 1, 1, 1024, stream, nullptr, nullptr),
          "cuLaunchKernel");
  }
  expectation.CountLaunches(kernels_[kernel], times);
}

void Target::Synchronize() const { Check(cuCtxSynchronize(), "cuCtxSynchronize"); }

const std::vector<KernelImage>& CommonKernels() {
  // Never destroyed: threads that go on while the program ends launch them.
  static const auto& kernels = *new std::vector<KernelImage>{
      {.name = "_Z4gemmPfPKfS1_i",
       .duration_ns = 200'000,
       .tensor_flops = 1e11,
       .dram_read_bytes = 3e8,
       .dram_write_bytes = 1e8},
      {.name = "_Z6reducePfPKfi",
       .duration_ns = 50'000,
       .dram_read_bytes = 1e8,
       .dram_write_bytes = 1e5},
      {.name = "_Z3addPfPKfi",
       .duration_ns = 20'000,
       .dram_read_bytes = 4e7,
       .dram_write_bytes = 4e7},
  };
  return kernels;
}

}  // namespace utlz::fake
