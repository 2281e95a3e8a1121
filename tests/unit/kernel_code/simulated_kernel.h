// A random kernel of branches, loops, calls and early ends: its machine code, and what counters
// count when warps run it whose lanes part and join.
#ifndef UTLZ_TESTS_UNIT_KERNEL_CODE_SIMULATED_KERNEL_H_
#define UTLZ_TESTS_UNIT_KERNEL_CODE_SIMULATED_KERNEL_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>

namespace utlz {

struct TrueCounts {
  double fma = 0;
  double fp32 = 0;
  double alu = 0;
  double xu = 0;
  double lsu = 0;
  double all = 0;
};

struct TrueLaunch {
  double threads = 0;
  double warps = 0;
  TrueCounts of_warps;
  TrueCounts of_threads;
  double fp32_flops = 0;
  double half_flops = 0;
};

class SimulatedKernel {
 public:
  // `size` is about how many constructs it has.
  SimulatedKernel(uint32_t seed, int size);
  ~SimulatedKernel();

  const std::string& code() const { return code_; }
  TrueLaunch Launch(int blocks, int threads_a_block);

 private:
  struct Node;
  std::mt19937 random_;
  std::unique_ptr<Node> program_;
  std::string code_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_KERNEL_CODE_SIMULATED_KERNEL_H_
