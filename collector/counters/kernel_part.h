// What counters say of the launches of a kernel that do one kind of work.
#ifndef UTLZ_COLLECTOR_COUNTERS_KERNEL_PART_H_
#define UTLZ_COLLECTOR_COUNTERS_KERNEL_PART_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

inline constexpr size_t kMetricRoles = MetricRole_ARRAYSIZE;

// One counter of one launch, in CounterSet's units.
struct CounterPerLaunch {
  double value = 0;
  double error = 0;    // standard error
  double assumed = 0;  // of it, what rests on assumptions; the rest was measured, both in squares
};

// The launches of a kernel that do one kind of work.
struct KernelPart {
  uint32_t part = 0;
  uint32_t parts = 1;
  uint64_t minimum_ns = 0;  // durations of this part lie in [minimum, maximum)
  uint64_t maximum_ns = UINT64_MAX;
  uint64_t launches = 0;  // that the engine placed in time
  uint64_t sampled_launches = 0;
  std::optional<size_t> group;  // samples do not separate it from this group
  std::array<std::optional<CounterPerLaunch>, kMetricRoles> counters;
};

// With parts that have no counters for the durations of none of `parts`: the system of equations
// had no room for these launches, and what the other launches did is not theirs. Ascending by
// duration.
std::vector<KernelPart> WholeKernel(std::vector<KernelPart> parts);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_KERNEL_PART_H_
