// What the target programs share: a CUDA context, launching scripted kernels, and telling the test
// what a profile must show. Each program shows one hazard.
#ifndef UTLZ_TESTS_PROGRAMS_TARGET_H_
#define UTLZ_TESTS_PROGRAMS_TARGET_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/fake_cuda.h"

namespace utlz::fake {

// Ends the program with status 3 and a sentence, if a CUDA call failed.
void Check(CUresult result, const char* what);

// Counts what was launched. Printed as one line of JSON, that the test reads:
//   {"launches":3,"kernels":{"name":3},"copies":1,"copy_bytes":4096,
//    "flops":…,"dram_read_bytes":…,"dram_write_bytes":…}
// Thread-safe.
class Expectation {
 public:
  void CountLaunches(const KernelImage& kernel, uint64_t launches);
  void CountCopy(uint64_t bytes);
  // Writes the line to standard output with one write(2), so that no ending can lose it.
  void Print() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> launches_;
  uint64_t copies_ = 0;
  uint64_t copy_bytes_ = 0;
  double flops_ = 0;
  double dram_read_bytes_ = 0;
  double dram_write_bytes_ = 0;
};

// The primary context of a device, with one module of scripted kernels.
class Target {
 public:
  // `kernels` must outlive the program.
  explicit Target(const std::vector<KernelImage>& kernels, int device = 0);

  CUfunction Function(size_t kernel) const { return functions_[kernel]; }
  const KernelImage& Image(size_t kernel) const { return kernels_[kernel]; }
  CUmodule module() const { return module_; }
  CUcontext context() const { return context_; }

  // Launches and counts. Every launch has the grid (8, 4, 2) and 128 threads a block.
  void Launch(size_t kernel, uint64_t times = 1, CUstream stream = nullptr);
  void Synchronize() const;

  Expectation expectation;

 private:
  const std::vector<KernelImage>& kernels_;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> functions_;
};

// Three kernels of different length and appetite: a GEMM, a reduction, an elementwise operation.
const std::vector<KernelImage>& CommonKernels();

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_PROGRAMS_TARGET_H_
