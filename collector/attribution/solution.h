// What the attribution engine answers.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SOLUTION_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SOLUTION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace utlz::attribution {

enum class IntervalKind : uint8_t { kKernel, kMemcpy, kMemset };

// The variant under which launches beyond Options::max_variants or max_columns are reported.
inline constexpr uint64_t kOtherVariants = std::numeric_limits<uint64_t>::max();

// One counter of one column, in the counter's unit.
struct CounterEstimate {
  double attributed = 0;  // counted by samples and given to this column
  // Absent where no launch was covered by samples.
  std::optional<double> per_launch;
  // Of per_launch; per_launch +- 1.96 x this is the 95 % interval. Absent with per_launch, and
  // where nothing shows how far launches differ.
  std::optional<double> standard_error;
  // Of standard_error, what rests on the assumptions of Options; the rest was measured. Both add
  // in squares.
  double assumed_error = 0;
};

// The launches of one variant that do one kind of work.
struct ColumnEstimate {
  uint64_t variant = 0;
  IntervalKind kind = IntervalKind::kKernel;
  // Launches of the variant whose durations plainly fall into separate clusters become separate
  // columns: part 0 of parts has the shortest. Durations of this part lie in [min, max).
  uint32_t part = 0;
  uint32_t parts = 1;
  int64_t min_duration_ns = 0;
  int64_t max_duration_ns = std::numeric_limits<int64_t>::max();
  uint64_t launches = 0;          // placed in time, sampled or not
  uint64_t sampled_launches = 0;  // covered by samples for the most part
  uint64_t windows = 0;           // unbroken stretches of samples that these fall into
  int64_t time_ns = 0;            // sum of the durations of `launches`
  // The samples so far cannot separate the columns of one group: only the sum of their
  // attributed totals is known, the members' own numbers are a guess. Index into Solution::groups.
  std::optional<size_t> group;
  std::vector<CounterEstimate> counters;  // as Options::counters
};

struct FoldedGroup {
  std::string name;
  std::vector<size_t> columns;  // indices into Solution::columns
};

// attributed + idle + unattributed == counted, but for rounding.
struct CounterTotals {
  double counted = 0;
  double attributed = 0;
  double idle = 0;          // background of times with no known work
  double unattributed = 0;  // beyond the background while no known work could have caused it
};

// Where a group's samples lie against the launches: what a launch does in [start, end) shows in
// samples at [start + shift, end + shift).
struct ShiftEstimate {
  std::string group;
  // By the least residual of constant rates: comparable between tools and recordings. Absent where
  // the recording does not determine it; another group's, or what is known beforehand, serves then.
  std::optional<double> shift_ns;
  double uncertainty_ns = 0;  // 95 %, of the shift that was used
  // What samples were divided by: shift_ns, else another group's or what is known beforehand.
  double used_shift_ns = 0;
  // What constant rates leave unexplained at shift_ns, a share of the counters' squares.
  double residual_share = 0;
};

// What was wrong with the input. All zero for a clean recording.
struct InputQuality {
  uint64_t samples = 0;             // used
  uint64_t intervals = 0;           // used
  uint64_t invalid_samples = 0;     // NaN, infinite, negative or impossible values; empty spans
  uint64_t disordered_samples = 0;  // doubled, overlapping or older than what was processed
  uint64_t dropped_samples = 0;     // beyond max_pending_samples
  uint64_t untimed_intervals = 0;  // start = end = 0
  uint64_t invalid_intervals = 0;   // end before start, or longer than can be
  uint64_t late_intervals = 0;      // came after their samples were processed
  uint64_t dropped_intervals = 0;   // beyond max_pending_intervals
  uint64_t crowded_intervals = 0;   // beyond what may overlap in one sample
  uint64_t untraced_samples = 0;    // taken while launches were not recorded
  int64_t missing_sample_ns = 0;    // holes between samples
  int64_t sampled_ns = 0;           // of the samples used
};

struct Solution {
  std::vector<ColumnEstimate> columns;
  std::vector<FoldedGroup> groups;
  std::vector<CounterTotals> totals;  // as Options::counters
  std::vector<ShiftEstimate> shifts;
  InputQuality quality;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SOLUTION_H_
