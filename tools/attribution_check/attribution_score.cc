#include "tools/attribution_check/attribution_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/normal_interval.h"
#include "tools/attribution_check/attributed_launches.h"
#include "tools/attribution_check/step_match.h"
#include "tools/attribution_check/tensor_use.h"

namespace utlz {
namespace {

using attribution::ColumnEstimate;
using attribution::CounterEstimate;

constexpr double kLeastByteShare = 0.01;
constexpr double kShortKernelNs = 3000;
constexpr double kUsualAttributedShare = 0.97;

std::optional<double> Percent(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return 100 * part / whole;
}

// The launches of the recording that the reference's sequence is looked for in: kernels with times.
std::vector<size_t> CorrelatedKernels(const Capture& capture) {
  std::vector<size_t> placed;
  for (size_t i = 0; i < capture.launches.size(); ++i) {
    const CapturedLaunch& launch = capture.launches[i];
    if (IsPlaced(launch) && !IsCopyName(capture.keys[launch.key].name)) placed.push_back(i);
  }
  return placed;
}

// Reference launches as indices into Capture::keys; unknown ones get numbers beyond.
std::vector<size_t> ReferenceKeys(const Capture& capture,
                                  const std::vector<ReferenceLaunch>& reference) {
  std::map<KernelKey, size_t> numbers;
  for (size_t i = 0; i < capture.keys.size(); ++i) numbers.emplace(capture.keys[i], i);
  std::vector<size_t> keys;
  for (const ReferenceLaunch& launch : reference) {
    keys.push_back(numbers.emplace(launch.key, numbers.size()).first->second);
  }
  return keys;
}

struct Matched {
  std::vector<size_t> launches;  // indices into Capture::launches
  size_t steps = 0;
  double time_share = 0;
};

Matched MatchSteps(const Capture& capture, const std::vector<size_t>& reference_keys) {
  const std::vector<size_t> placed = CorrelatedKernels(capture);
  std::vector<size_t> sequence;
  double all_ns = 0;
  for (const size_t i : placed) {
    sequence.push_back(capture.launches[i].key);
    all_ns += static_cast<double>(capture.launches[i].end_ns - capture.launches[i].start_ns);
  }
  const std::vector<size_t> begins = FindSteps(sequence, reference_keys);
  Matched matched;
  matched.steps = begins.size();
  double matched_ns = 0;
  for (const size_t begin : begins) {
    for (size_t i = begin; i < begin + reference_keys.size(); ++i) {
      const CapturedLaunch& launch = capture.launches[placed[i]];
      matched.launches.push_back(placed[i]);
      matched_ns += static_cast<double>(launch.end_ns - launch.start_ns);
    }
  }
  matched.time_share = all_ns > 0 ? matched_ns / all_ns : 0;
  return matched;
}

// Adds one launch's estimates to its kernel; errors of one column's launches add up, they are of
// one estimate.
void AddLaunch(const ColumnEstimate& column, double flops_per_cycle, KernelScore* kernel) {
  const CounterEstimate& read = column.counters[AttributedLaunches::kDramRead];
  const CounterEstimate& write = column.counters[AttributedLaunches::kDramWrite];
  const CounterEstimate& cycles = column.counters[AttributedLaunches::kTensorCycles];
  kernel->measured += read.per_launch && write.per_launch && cycles.per_launch ? 1 : 0;
  kernel->read_bytes += read.per_launch.value_or(0);
  kernel->write_bytes += write.per_launch.value_or(0);
  kernel->half_width_bytes +=
      kNormal95 * std::hypot(read.standard_error.value_or(0), write.standard_error.value_or(0));
  kernel->flops += flops_per_cycle * cycles.per_launch.value_or(0);
  kernel->half_width_flops += kNormal95 * flops_per_cycle * cycles.standard_error.value_or(0);
  kernel->folded = kernel->folded || column.group.has_value();
}

std::vector<KernelScore> ScoreKernels(const Capture& capture, const Matched& matched,
                                      const std::vector<ReferenceLaunch>& reference,
                                      const AttributedLaunches& attributed,
                                      const TensorPeak& peak) {
  std::map<KernelKey, KernelScore> kernels;
  for (const ReferenceLaunch& launch : reference) {
    KernelScore& kernel = kernels[launch.key];
    kernel.key = launch.key;
    ++kernel.launches;
    kernel.reference_read_bytes += launch.dram_read_bytes;
    kernel.reference_write_bytes += launch.dram_write_bytes;
    kernel.reference_flops += launch.tensor_flops;
  }
  for (const size_t index : matched.launches) {
    const CapturedLaunch& launch = capture.launches[index];
    const KernelKey& key = capture.keys[launch.key];
    KernelScore& kernel = kernels[key];
    kernel.mean_duration_ns += static_cast<double>(launch.end_ns - launch.start_ns);
    const ColumnEstimate* column = attributed.ColumnOf(launch);
    if (column == nullptr) continue;
    const double flops_per_cycle =
        peak.flops_per_cycle * peak.multiprocessors * TensorRate(key.name);
    AddLaunch(*column, flops_per_cycle, &kernel);
  }
  const double steps = static_cast<double>(matched.steps);
  std::vector<KernelScore> scores;
  for (auto& [key, kernel] : kernels) {
    kernel.mean_duration_ns /= steps * static_cast<double>(kernel.launches);
    for (double* sum : {&kernel.read_bytes, &kernel.write_bytes, &kernel.flops,
                        &kernel.half_width_bytes, &kernel.half_width_flops}) {
      *sum /= steps;
    }
    kernel.bytes = kernel.read_bytes + kernel.write_bytes;
    kernel.reference_bytes = kernel.reference_read_bytes + kernel.reference_write_bytes;
    scores.push_back(std::move(kernel));
  }
  std::sort(scores.begin(), scores.end(), [](const KernelScore& a, const KernelScore& b) {
    return a.reference_bytes > b.reference_bytes;
  });
  return scores;
}

struct ErrorSums {
  double bytes = 0, read = 0, write = 0, flops = 0, worst = 0;
};

// Errors against the reference's bytes scaled by the factors.
ErrorSums SumErrors(const std::vector<KernelScore>& kernels, double read_factor,
                    double write_factor, double reference_bytes) {
  ErrorSums sums;
  for (const KernelScore& kernel : kernels) {
    const double read = read_factor * kernel.reference_read_bytes;
    const double write = write_factor * kernel.reference_write_bytes;
    const double error = std::abs(kernel.bytes - read - write);
    sums.bytes += error;
    sums.read += std::abs(kernel.read_bytes - read);
    sums.write += std::abs(kernel.write_bytes - write);
    sums.flops += std::abs(kernel.flops - kernel.reference_flops);
    if (kernel.reference_bytes >= kLeastByteShare * reference_bytes) {
      sums.worst = std::max(sums.worst, Percent(error, read + write).value_or(0));
    }
  }
  return sums;
}

void ScoreErrors(AttributionScore* score) {
  double read = 0, write = 0, flops = 0, own_read = 0, own_write = 0;
  for (const KernelScore& kernel : score->kernels) {
    read += kernel.reference_read_bytes;
    write += kernel.reference_write_bytes;
    flops += kernel.reference_flops;
    own_read += kernel.read_bytes;
    own_write += kernel.write_bytes;
  }
  const ErrorSums plain = SumErrors(score->kernels, 1, 1, read + write);
  score->dram_bytes_error_percent = Percent(plain.bytes, read + write);
  score->dram_read_error_percent = Percent(plain.read, read);
  score->dram_write_error_percent = Percent(plain.write, write);
  score->tensor_flops_error_percent = Percent(plain.flops, flops);
  score->worst_kernel_error_percent = plain.worst;
  score->counted_read_difference_percent = Percent(own_read - read, read);
  score->counted_write_difference_percent = Percent(own_write - write, write);
  score->counted_bytes_difference_percent =
      Percent(own_read + own_write - read - write, read + write);
  const ErrorSums scaled = SumErrors(score->kernels, read > 0 ? own_read / read : 1,
                                     write > 0 ? own_write / write : 1, read + write);
  score->dram_bytes_division_error_percent = Percent(scaled.bytes, own_read + own_write);
  score->worst_kernel_division_error_percent = scaled.worst;
}

// Of those above kShortKernelNs. A kernel that samples did not meet has no interval that could hold
// anything, and none whose width could be told.
void ScoreIntervals(AttributionScore* score) {
  size_t kernels = 0, held = 0, with_flops = 0, flops_held = 0;
  std::vector<double> half_widths;
  for (const KernelScore& kernel : score->kernels) {
    if (kernel.mean_duration_ns <= kShortKernelNs) continue;
    ++kernels;
    with_flops += kernel.reference_flops > 0 ? 1 : 0;
    if (kernel.measured == 0) continue;
    held += std::abs(kernel.bytes - kernel.reference_bytes) <= kernel.half_width_bytes ? 1 : 0;
    half_widths.push_back(Percent(kernel.half_width_bytes, kernel.bytes)
                              .value_or(std::numeric_limits<double>::infinity()));
    if (kernel.reference_flops <= 0) continue;
    flops_held +=
        std::abs(kernel.flops - kernel.reference_flops) <= kernel.half_width_flops ? 1 : 0;
  }
  if (kernels > 0) {
    score->interval_coverage = static_cast<double>(held) / static_cast<double>(kernels);
  }
  if (!half_widths.empty()) {
    std::sort(half_widths.begin(), half_widths.end());
    score->interval_half_width_percent = half_widths[half_widths.size() / 2];
  }
  if (with_flops > 0) {
    score->flops_interval_coverage =
        static_cast<double>(flops_held) / static_cast<double>(with_flops);
  }
}

// What makes the figures worth less than they look.
std::vector<std::string> Warnings(const AttributionScore& score) {
  const attribution::InputQuality& quality = score.quality;
  std::vector<std::string> warnings;
  const auto warn = [&warnings](uint64_t count, const char* what) {
    if (count > 0) warnings.push_back(absl::StrCat(count, " ", what));
  };
  warn(score.doubled_launches, "launches were doubled and left out");
  warn(quality.untimed_intervals, "launches have no times");
  warn(quality.invalid_intervals, "launches have times that cannot be");
  warn(quality.dropped_intervals + quality.late_intervals, "launches were dropped");
  warn(quality.crowded_intervals, "launches overlapped more others than are followed");
  warn(quality.invalid_samples, "samples have values or times that cannot be");
  warn(quality.disordered_samples, "samples were doubled or overlapped others");
  warn(quality.dropped_samples, "samples were dropped");
  if (quality.missing_sample_ns > quality.sampled_ns / 100) {
    warn(static_cast<uint64_t>(quality.missing_sample_ns / 1000),
         "us between samples were not sampled");
  }
  warn(score.unmeasured_kernels, "kernels met no sample: their bytes and FLOPs are not known");
  if (!score.attributed_share) {
    warnings.push_back("the samples counted no bytes");
  } else if (*score.attributed_share < kUsualAttributedShare) {
    warnings.push_back("much was counted while no known launch ran: bytes are missing");
  }
  const bool any_shift = std::any_of(score.shift_ns.begin(), score.shift_ns.end(),
                                     [](const auto& shift) { return shift.second.has_value(); });
  if (!any_shift) {
    warnings.push_back("the samples do not tell the shift between their clock and the launches'");
  }
  return warnings;
}

}  // namespace

absl::StatusOr<AttributionScore> ScoreAttribution(const Capture& capture,
                                                  const std::vector<ReferenceLaunch>& reference,
                                                  const TensorPeak& peak) {
  const Matched matched = MatchSteps(capture, ReferenceKeys(capture, reference));
  if (matched.steps == 0) {
    return absl::FailedPreconditionError(
        "the recording holds no whole step of the reference's launches: "
        "check that both are of the same program");
  }
  const AttributedLaunches attributed(capture);
  if (attributed.solution().quality.samples == 0) {
    return absl::FailedPreconditionError(
        "the recording has no sample that can be used: check its .pm.gz");
  }
  AttributionScore score;
  score.steps = matched.steps;
  score.matched_time_share = matched.time_share;
  score.kernels = ScoreKernels(capture, matched, reference, attributed, peak);
  ScoreErrors(&score);
  ScoreIntervals(&score);

  const attribution::Solution& solution = attributed.solution();
  score.quality = solution.quality;
  score.totals = solution.totals;
  double counted = 0, given = 0;
  for (const size_t counter : {AttributedLaunches::kDramRead, AttributedLaunches::kDramWrite}) {
    counted += solution.totals[counter].counted;
    given += solution.totals[counter].attributed;
  }
  if (counted > 0) score.attributed_share = given / counted;
  for (const attribution::ShiftEstimate& shift : solution.shifts) {
    score.shift_ns[shift.group] = shift.shift_ns;
    score.shift_uncertainty_ns[shift.group] = shift.uncertainty_ns;
    score.used_shift_ns[shift.group] = shift.used_shift_ns;
  }
  score.doubled_launches = capture.doubled_launches;
  for (const KernelScore& kernel : score.kernels) {
    score.unmeasured_kernels += kernel.measured == 0 ? 1 : 0;
  }
  score.warnings = Warnings(score);
  return score;
}

}  // namespace utlz
