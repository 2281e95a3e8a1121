#include "collector/sampler/counters/metric_selection.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "collector/sampler/counters/profiler_host.h"

namespace utlz {
namespace {

std::optional<SelectedMetric> FirstThatFits(const RoleCandidates& role, const PassCounter& passes,
                                            std::vector<std::string> names) {
  for (const MetricCandidate& candidate : role.candidates) {
    names.push_back(candidate.name);
    const absl::StatusOr<size_t> count = passes(names);
    if (count.ok() && *count == 1) {
      return SelectedMetric{role.role, candidate.name, candidate.unit, candidate.resolution};
    }
    names.pop_back();
  }
  return std::nullopt;
}

bool IsWork(MetricRole role) {
  return role != METRIC_SM_CYCLES_ELAPSED && role != METRIC_DRAM_CYCLES_ELAPSED;
}

}  // namespace

PassCounter CuptiPassCounter(const CuptiTable& table, const std::string& chip,
                             const std::vector<uint8_t>& availability) {
  return [&table, chip,
          availability](const std::vector<std::string>& names) -> absl::StatusOr<size_t> {
    absl::StatusOr<ProfilerHost> host = ProfilerHost::Create(table, chip, availability, names);
    if (!host.ok()) return host.status();
    return host->passes();
  };
}

absl::StatusOr<SelectedMetrics> SelectMetrics(const std::vector<RoleCandidates>& roles,
                                              const PassCounter& passes) {
  SelectedMetrics selected;
  bool has_work = false;
  for (const RoleCandidates& role : roles) {
    std::optional<SelectedMetric> metric = FirstThatFits(role, passes, MetricNames(selected));
    if (metric.has_value()) {
      has_work = has_work || IsWork(role.role);
      selected.push_back(*std::move(metric));
    } else if (role.required) {
      return absl::UnimplementedError(absl::StrCat(
          "this GPU has no counter for ", MetricRole_Name(role.role), " that can be sampled"));
    }
  }
  if (!has_work) {
    return absl::UnimplementedError(
        "this GPU has no counters of bytes or pipes that can be sampled");
  }
  return selected;
}

std::vector<std::string> MetricNames(const SelectedMetrics& metrics) {
  std::vector<std::string> names;
  for (const SelectedMetric& metric : metrics) names.push_back(metric.name);
  return names;
}

}  // namespace utlz
