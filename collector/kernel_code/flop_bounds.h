// Between which bounds the FLOPs of a launch lie, by the kernel's code and what counters counted.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_FLOP_BOUNDS_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_FLOP_BOUNDS_H_

#include <optional>

namespace utlz {

struct KernelCode;

// Instructions a launch, and one standard error of that.
struct CountedInstructions {
  double a_launch = 0;
  double error = 0;
};

// What was counted of a kernel, each a launch. What was not counted is absent; the more there is,
// the narrower the bounds.
struct CountedLaunch {
  // Known exactly: blocks of the grid × threads of a block, and × warps of a block.
  double threads = 0;
  double warps = 0;

  // Warp instructions: sm__inst_executed_pipe_{fma,fmalite,alu,xu}, sm__inst_executed. Alone they
  // bound from above, since nothing tells how many lanes took part.
  std::optional<CountedInstructions> warp_fma = {};
  std::optional<CountedInstructions> warp_fma_lite = {};
  std::optional<CountedInstructions> warp_alu = {};
  std::optional<CountedInstructions> warp_xu = {};
  std::optional<CountedInstructions> warp_all = {};

  // Thread instructions whose predicate held: sm__thread_inst_executed_pipe_…_pred_on,
  // sm__thread_inst_executed_pred_on. That of the FMA pipe is the sum of its halves.
  std::optional<CountedInstructions> thread_fma = {};
  std::optional<CountedInstructions> thread_fma_lite = {};
  std::optional<CountedInstructions> thread_alu = {};
  std::optional<CountedInstructions> thread_xu = {};
  std::optional<CountedInstructions> thread_lsu = {};
  std::optional<CountedInstructions> thread_all = {};
};

struct FlopBounds {
  double fp32_least = 0;
  double fp32_most = 0;
  double half_least = 0;  // 16 bits, outside the tensor cores' instructions
  double half_most = 0;
};

// FLOPs of one launch outside the tensor cores. They lie between the bounds if each count is within
// 1.96 of its errors of the truth, whatever way the threads took through the code.
//
// Absent where nothing bounds them from above, where the counts contradict the code, and for
// compute capabilities whose code and counters were not compared with Nsight Compute: all but 9.0.
std::optional<FlopBounds> BoundFlops(const KernelCode& code, const CountedLaunch& counted);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_FLOP_BOUNDS_H_
