// Solves the counts of ranges for the tensor FLOPs of the kernels in them, by data type.
//
// What was sampled and what names say is the starting point; it moves by as little as the counts
// allow. Some metrics count the instructions of warp groups only (wgmma): kernels that use mma.sync
// are no part of such counts. Which those are, names say. Where counts contradict that, kernels
// whose names leave it open are looked for that explain them; else what names say gets a larger
// error, by as much as the counts are off where a name tells its instructions.
//
// Pure computation. Thread safety: none needed.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_FLOP_SOLVER_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_FLOP_SOLVER_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

namespace utlz {

// FLOPs (integer operations where the data type is one) of one launch, and their standard error.
struct CalibratedFlops {
  double per_launch = 0;
  double error = 0;
  double assumed = 0;  // of the error, what neither samples nor counts show
};

// Those of one data type in a range.
struct FlopCount {
  double operations = 0;
  bool warp_groups_only = false;
  double error = 0;  // standard error, by how far ranges of one mix differ
};

// Launches by kernel, and what they did together.
struct CountedMix {
  std::map<uint32_t, uint32_t> kernels;
  std::map<std::string, FlopCount> counts;  // by data type
};

// How far data types and instructions that a name implies may be off, where counts contradict them:
// a standard error, as a share of what the kernel can have done of a type.
// TypePrior::contradicted_error is made of it.
inline constexpr double kTypeSpread = 0.5;

// What is assumed of a launch before the counts are looked at.
struct TypePrior {
  double per_launch = 0;
  double error = 0;               // standard error of what was sampled
  double contradicted_error = 0;  // standard error where the counts contradict what names say
  double assumed = 0;             // of `error`, what samples do not show
};

struct KernelPrior {
  bool warp_mma = false;  // its tensor instructions are issued by warps, not by warp groups
  bool instructions_known = false;  // by its name
  // A kernel without an entry for a data type cannot be given any FLOPs of it.
  std::map<std::string, TypePrior> by_type;
};
using FlopPrior = std::map<uint32_t, KernelPrior>;

struct SolvedFlops {
  // Of kernels and data types that some mix counted.
  std::map<uint32_t, std::map<std::string, CalibratedFlops>> by_kernel;
  // Found by the counts to issue their tensor instructions by warps: they are in no count of warp
  // groups.
  std::set<uint32_t> warp_mma;
};

SolvedFlops SolveFlops(std::span<const CountedMix> mixes, FlopPrior prior);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_FLOP_SOLVER_H_
