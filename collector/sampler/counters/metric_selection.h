// Chooses, for one chip, the counters of a metric set that one pass can take together.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_SELECTION_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/sampler/counters/metric_candidates.h"
#include "collector/sampler/driver/cupti_table.h"

namespace utlz {

struct SelectedMetric {
  MetricRole role;
  std::string name;
  std::string unit;
  double resolution = 1;
};

using SelectedMetrics = std::vector<SelectedMetric>;

// Passes that a list of metrics takes; an error where the chip lacks one of them.
using PassCounter = std::function<absl::StatusOr<size_t>(const std::vector<std::string>&)>;

// Asks CUPTI's host API, with a fresh host object each time: one that refused a metric is spoilt.
// The table must outlive the counter.
PassCounter CuptiPassCounter(const CuptiTable& table, const std::string& chip,
                             const std::vector<uint8_t>& availability);

// Takes the roles in order and for each the first candidate with which everything still fits into
// one pass; a role with none is left out. Unimplemented if a required role is left out, or if no
// counter of work at all (bytes or pipes) could be had.
absl::StatusOr<SelectedMetrics> SelectMetrics(const std::vector<RoleCandidates>& roles,
                                              const PassCounter& passes);

std::vector<std::string> MetricNames(const SelectedMetrics& metrics);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_SELECTION_H_
