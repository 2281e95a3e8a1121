// A made-up job: ranks that meet in collectives, each on the clock of its host.
#ifndef UTLZ_TESTS_UNIT_MERGE_JOB_MAKER_H_
#define UTLZ_TESTS_UNIT_MERGE_JOB_MAKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/merge/collective.h"

namespace utlz {

inline constexpr uint64_t kJobStartNs = 1'700'000'000'000'000'000;
// When every device of the job was calibrated.
inline constexpr uint64_t kCeilingsTimeNs = kJobStartNs - 86'400'000'000'000;

struct JobOptions {
  uint32_t seed = 1;
  size_t ranks = 2;
  size_t steps = 60;
  size_t collectives_per_step = 8;
  double step_ns = 30e6;
  double step_jitter_ns = 400e3;     // standard deviation, the same for all ranks
  double arrival_jitter_ns = 200e3;  // by which ranks come at different times
  double end_scatter_ns = 2e3;       // by which the ends of one collective differ
  std::vector<double> late_ns;       // by rank, on top of the others
};

// One trace a rank, all on one true clock, sorted by ends. Two kernels take turns.
std::vector<RankTrace> MakeJob(const JobOptions& options);

struct MadeClock {
  double shift_ns = 0;
  double drift = 0;
};

// As a host with that clock would have recorded it.
RankTrace OnClock(const RankTrace& trace, const MadeClock& clock);

// Writes a profile with that rank in it, one device and a kernel between the collectives.
void WriteRankProfile(const std::string& path, const std::string& host, const RankTrace& trace,
                      const MadeClock& clock);

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_MERGE_JOB_MAKER_H_
