#include "tools/attribution_check/score_text.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace utlz {
namespace {

nlohmann::json OrNull(std::optional<double> value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// Of a kernel that no sample met nothing is known.
nlohmann::json Measured(const KernelScore& kernel, double value) {
  return kernel.measured > 0 ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json KernelJson(const KernelScore& kernel) {
  return {{"name", kernel.key.name},
          {"grid", kernel.key.grid},
          {"launches", kernel.launches},
          {"measured_launches", kernel.measured},
          {"mean_duration_ns", kernel.mean_duration_ns},
          {"dram_read_bytes", Measured(kernel, kernel.read_bytes)},
          {"dram_write_bytes", Measured(kernel, kernel.write_bytes)},
          {"dram_bytes_half_width", Measured(kernel, kernel.half_width_bytes)},
          {"reference_dram_read_bytes", kernel.reference_read_bytes},
          {"reference_dram_write_bytes", kernel.reference_write_bytes},
          {"tensor_flops", Measured(kernel, kernel.flops)},
          {"tensor_flops_half_width", Measured(kernel, kernel.half_width_flops)},
          {"reference_tensor_flops", kernel.reference_flops},
          {"folded", kernel.folded}};
}

nlohmann::json QualityJson(const attribution::InputQuality& quality) {
  return {{"samples", quality.samples},
          {"intervals", quality.intervals},
          {"invalid_samples", quality.invalid_samples},
          {"disordered_samples", quality.disordered_samples},
          {"dropped_samples", quality.dropped_samples},
          {"untimed_intervals", quality.untimed_intervals},
          {"invalid_intervals", quality.invalid_intervals},
          {"late_intervals", quality.late_intervals},
          {"dropped_intervals", quality.dropped_intervals},
          {"crowded_intervals", quality.crowded_intervals},
          {"missing_sample_ns", quality.missing_sample_ns},
          {"sampled_ns", quality.sampled_ns}};
}

nlohmann::json TotalsJson(const attribution::CounterTotals& totals) {
  return {{"counted", totals.counted},
          {"attributed", totals.attributed},
          {"idle", totals.idle},
          {"unattributed", totals.unattributed}};
}

std::optional<double> Share(std::optional<double> share) {
  if (share) *share *= 100;
  return share;
}

std::string PercentText(std::optional<double> percent) {
  return percent ? absl::StrFormat("%.2f %%", *percent) : "unknown";
}

std::string KernelLine(const KernelScore& kernel) {
  std::string line =
      absl::StrFormat("%8.1f us x %3d  ", kernel.mean_duration_ns * 1e-3, kernel.launches);
  if (kernel.measured == 0) {
    absl::StrAppend(&line, "met no sample");
  } else {
    absl::StrAppendFormat(
        &line, "%12.4g B %+7.2f %% +- %6.2f %%  %12.4g FLOP %+7.2f %%", kernel.bytes,
        kernel.reference_bytes > 0 ? 100 * (kernel.bytes / kernel.reference_bytes - 1) : 0,
        kernel.bytes > 0 ? 100 * kernel.half_width_bytes / kernel.bytes : 0, kernel.flops,
        kernel.reference_flops > 0 ? 100 * (kernel.flops / kernel.reference_flops - 1) : 0);
  }
  return absl::StrCat(line, "  ", kernel.key.name.substr(0, 60));
}

}  // namespace

std::string ScoreJson(const AttributionScore& score) {
  nlohmann::json json = {
      {"steps", score.steps},
      {"matched_time_share", score.matched_time_share},
      {"attributed_share", OrNull(score.attributed_share)},
      {"dram_bytes_error_percent", OrNull(score.dram_bytes_error_percent)},
      {"dram_read_error_percent", OrNull(score.dram_read_error_percent)},
      {"dram_write_error_percent", OrNull(score.dram_write_error_percent)},
      {"tensor_flops_error_percent", OrNull(score.tensor_flops_error_percent)},
      {"worst_kernel_error_percent", score.worst_kernel_error_percent},
      {"dram_bytes_division_error_percent", OrNull(score.dram_bytes_division_error_percent)},
      {"worst_kernel_division_error_percent", score.worst_kernel_division_error_percent},
      {"counted_read_difference_percent", OrNull(score.counted_read_difference_percent)},
      {"counted_write_difference_percent", OrNull(score.counted_write_difference_percent)},
      {"counted_bytes_difference_percent", OrNull(score.counted_bytes_difference_percent)},
      {"interval_coverage", OrNull(score.interval_coverage)},
      {"interval_half_width_percent", OrNull(score.interval_half_width_percent)},
      {"flops_interval_coverage", OrNull(score.flops_interval_coverage)},
      {"shift_uncertainty_ns", score.shift_uncertainty_ns},
      {"used_shift_ns", score.used_shift_ns},
      {"unmeasured_kernels", score.unmeasured_kernels},
      {"doubled_launches", score.doubled_launches},
      {"warnings", score.warnings},
      {"input", QualityJson(score.quality)}};
  for (const auto& [group, shift] : score.shift_ns) {
    json["shift_ns"][group] = OrNull(shift);
  }
  for (const attribution::CounterTotals& totals : score.totals) {
    json["totals"].push_back(TotalsJson(totals));
  }
  json["folded"] = nlohmann::json::array();
  for (const KernelScore& kernel : score.kernels) {
    json["kernels"].push_back(KernelJson(kernel));
    if (kernel.folded) json["folded"].push_back(KernelJson(kernel));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ScoreTable(const AttributionScore& score) {
  std::string text = absl::StrFormat(
      "%d steps, %.1f %% of the kernel time, %s of the DRAM bytes attributed\n", score.steps,
      100 * score.matched_time_share, PercentText(Share(score.attributed_share)));
  absl::StrAppend(&text, "DRAM bytes: error ", PercentText(score.dram_bytes_error_percent),
                  ", worst kernel ", PercentText(score.worst_kernel_error_percent),
                  "\n  counted against the reference: read ",
                  PercentText(score.counted_read_difference_percent), ", written ",
                  PercentText(score.counted_write_difference_percent), ", all ",
                  PercentText(score.counted_bytes_difference_percent), "\n  division alone: error ",
                  PercentText(score.dram_bytes_division_error_percent), ", worst kernel ",
                  PercentText(score.worst_kernel_division_error_percent), "\n");
  absl::StrAppend(&text, "tensor FLOPs: error ", PercentText(score.tensor_flops_error_percent),
                  "\n95 % intervals: hold ", PercentText(Share(score.interval_coverage)),
                  " of kernels (FLOPs ", PercentText(Share(score.flops_interval_coverage)),
                  "), median half-width ", PercentText(score.interval_half_width_percent), "\n");
  for (const auto& [group, shift] : score.shift_ns) {
    absl::StrAppend(
        &text, "shift ", group, ": ",
        shift ? absl::StrFormat("%.0f +- %.0f ns", *shift, score.shift_uncertainty_ns.at(group))
              : "not determined",
        absl::StrFormat(", used %.0f ns\n", score.used_shift_ns.at(group)));
  }
  for (const std::string& warning : score.warnings) {
    absl::StrAppend(&text, "warning: ", warning, "\n");
  }
  for (const KernelScore& kernel : score.kernels) absl::StrAppend(&text, KernelLine(kernel), "\n");
  return text;
}

}  // namespace utlz
