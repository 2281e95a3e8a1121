#include "tools/attribution_check/score_text.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace utlz {
namespace {

nlohmann::json KernelJson(const KernelScore& kernel) {
  return {{"name", kernel.key.name},
          {"grid", kernel.key.grid},
          {"launches", kernel.launches},
          {"mean_duration_ns", kernel.mean_duration_ns},
          {"dram_read_bytes", kernel.read_bytes},
          {"dram_write_bytes", kernel.write_bytes},
          {"dram_bytes_half_width", kernel.half_width_bytes},
          {"reference_dram_read_bytes", kernel.reference_read_bytes},
          {"reference_dram_write_bytes", kernel.reference_write_bytes},
          {"tensor_flops", kernel.flops},
          {"tensor_flops_half_width", kernel.half_width_flops},
          {"reference_tensor_flops", kernel.reference_flops},
          {"folded", kernel.folded}};
}

nlohmann::json QualityJson(const attribution::InputQuality& quality) {
  return {{"samples", quality.samples},
          {"intervals", quality.intervals},
          {"invalid_samples", quality.invalid_samples},
          {"disordered_samples", quality.disordered_samples},
          {"dropped_samples", quality.dropped_samples},
          {"timeless_intervals", quality.timeless_intervals},
          {"invalid_intervals", quality.invalid_intervals},
          {"late_intervals", quality.late_intervals},
          {"dropped_intervals", quality.dropped_intervals},
          {"crowded_intervals", quality.crowded_intervals},
          {"missing_sample_ns", quality.missing_sample_ns}};
}

nlohmann::json TotalsJson(const attribution::CounterTotals& totals) {
  return {{"counted", totals.counted},
          {"attributed", totals.attributed},
          {"idle", totals.idle},
          {"unattributed", totals.unattributed}};
}

}  // namespace

std::string ScoreJson(const AttributionScore& score) {
  nlohmann::json json = {
      {"steps", score.steps},
      {"matched_time_share", score.matched_time_share},
      {"attributed_share", score.attributed_share},
      {"dram_bytes_error_percent", score.dram_bytes_error_percent},
      {"dram_read_error_percent", score.dram_read_error_percent},
      {"dram_write_error_percent", score.dram_write_error_percent},
      {"tensor_flops_error_percent", score.tensor_flops_error_percent},
      {"worst_kernel_error_percent", score.worst_kernel_error_percent},
      {"dram_bytes_division_error_percent", score.dram_bytes_division_error_percent},
      {"worst_kernel_division_error_percent", score.worst_kernel_division_error_percent},
      {"counted_read_difference_percent", score.counted_read_difference_percent},
      {"counted_write_difference_percent", score.counted_write_difference_percent},
      {"counted_bytes_difference_percent", score.counted_bytes_difference_percent},
      {"interval_coverage", score.interval_coverage},
      {"interval_half_width_percent", score.interval_half_width_percent},
      {"flops_interval_coverage", score.flops_interval_coverage},
      {"shift_uncertainty_ns", score.shift_uncertainty_ns},
      {"used_shift_ns", score.used_shift_ns},
      {"input", QualityJson(score.quality)}};
  for (const auto& [group, shift] : score.shift_ns) {
    json["shift_ns"][group] = shift ? nlohmann::json(*shift) : nlohmann::json(nullptr);
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
      "%d steps, %.1f %% of the kernel time, %.2f %% of the DRAM bytes attributed\n"
      "DRAM bytes: error %.2f %%, worst kernel %.2f %%\n"
      "  counted against the reference: read %+.2f %%, written %+.2f %%, all %+.2f %%\n"
      "  division alone: error %.2f %%, worst kernel %.2f %%\n"
      "tensor FLOPs: error %.2f %%\n"
      "95 %% intervals: hold %.1f %% of kernels (FLOPs %.1f %%), median half-width %.2f %%\n",
      score.steps, 100 * score.matched_time_share, 100 * score.attributed_share,
      score.dram_bytes_error_percent, score.worst_kernel_error_percent,
      score.counted_read_difference_percent, score.counted_write_difference_percent,
      score.counted_bytes_difference_percent, score.dram_bytes_division_error_percent,
      score.worst_kernel_division_error_percent, score.tensor_flops_error_percent,
      100 * score.interval_coverage, 100 * score.flops_interval_coverage,
      score.interval_half_width_percent);
  for (const auto& [group, shift] : score.shift_ns) {
    absl::StrAppend(
        &text, "shift ", group, ": ",
        shift ? absl::StrFormat("%.0f +- %.0f ns", *shift, score.shift_uncertainty_ns.at(group))
              : "not determined",
        absl::StrFormat(", used %.0f ns\n", score.used_shift_ns.at(group)));
  }
  for (const KernelScore& kernel : score.kernels) {
    absl::StrAppendFormat(
        &text, "%8.1f us x %3d  %12.4g B %+7.2f %% +- %6.2f %%  %12.4g FLOP %+7.2f %%  %s\n",
        kernel.mean_duration_ns * 1e-3, kernel.launches, kernel.bytes,
        kernel.reference_bytes > 0 ? 100 * (kernel.bytes / kernel.reference_bytes - 1) : 0,
        kernel.bytes > 0 ? 100 * kernel.half_width_bytes / kernel.bytes : 0, kernel.flops,
        kernel.reference_flops > 0 ? 100 * (kernel.flops / kernel.reference_flops - 1) : 0,
        kernel.key.name.substr(0, 60));
  }
  return text;
}

}  // namespace utlz
