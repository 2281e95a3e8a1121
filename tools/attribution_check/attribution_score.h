// Runs the attribution engine over a recording and compares it with Nsight Compute's figures.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_ATTRIBUTION_SCORE_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_ATTRIBUTION_SCORE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/attribution/solution.h"
#include "tools/attribution_check/capture.h"
#include "tools/attribution_check/reference.h"

namespace utlz {

// What turns tensor cycles into FLOPs, from the data sheet of the GPU.
struct TensorPeak {
  double flops_per_cycle = 4096;  // of one multiprocessor, dense, 16-bit inputs
  double multiprocessors = 132;
};

// One function and grid; sums over one step.
struct KernelScore {
  KernelKey key;
  size_t launches = 0;  // of one step
  size_t measured = 0;  // of all steps, that have an estimate of every counter
  double mean_duration_ns = 0;
  double reference_bytes = 0;
  double reference_flops = 0;
  double bytes = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  double reference_read_bytes = 0;
  double reference_write_bytes = 0;
  double flops = 0;
  double half_width_bytes = 0;  // of the 95 % interval
  double half_width_flops = 0;
  bool folded = false;
};

// Shares and errors are absent where there is nothing that they could be of.

struct AttributionScore {
  size_t steps = 0;
  double matched_time_share = 0;
  std::optional<double> attributed_share;  // of the DRAM bytes counted
  // Weighted by the reference's bytes or FLOPs, of absolute differences per function and grid.
  std::optional<double> dram_bytes_error_percent;
  std::optional<double> dram_read_error_percent;   // of the reference's bytes read
  std::optional<double> dram_write_error_percent;  // of the reference's bytes written
  std::optional<double> tensor_flops_error_percent;
  double worst_kernel_error_percent = 0;  // of kernels with at least 1 % of the bytes
  // The same after scaling the reference's bytes read and written to what the recording counted
  // over the same steps: what is left is the error of dividing them among kernels.
  std::optional<double> dram_bytes_division_error_percent;
  double worst_kernel_division_error_percent = 0;
  // What the device counted over the matched steps against the reference's sum: no attribution
  // that conserves totals can have a smaller error than this.
  std::optional<double> counted_read_difference_percent;
  std::optional<double> counted_write_difference_percent;
  std::optional<double> counted_bytes_difference_percent;
  std::optional<double> interval_coverage;            // share of kernels above 3 us
  std::optional<double> interval_half_width_percent;  // median of the same kernels
  std::optional<double> flops_interval_coverage;      // of those with FLOPs
  std::map<std::string, std::optional<double>> shift_ns;
  std::map<std::string, double> shift_uncertainty_ns;
  std::map<std::string, double> used_shift_ns;
  std::vector<KernelScore> kernels;  // by bytes, descending
  size_t doubled_launches = 0;
  size_t unmeasured_kernels = 0;  // of which no launch has an estimate
  std::vector<std::string> warnings;
  attribution::InputQuality quality;
  std::vector<attribution::CounterTotals> totals;  // bytes read, bytes written, tensor cycles
};

// FailedPrecondition where the recording holds no whole step of the reference.
absl::StatusOr<AttributionScore> ScoreAttribution(const Capture& capture,
                                                  const std::vector<ReferenceLaunch>& reference,
                                                  const TensorPeak& peak);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_ATTRIBUTION_SCORE_H_
