#include "tools/report/tensor_rate.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

namespace utlz {
namespace {

// FLOPs of other types are estimated from the instructions of their pipes, and are no part of HFU,
// unless a range counted them.
bool IsOfHfu(const DataTypeFlops& flops) {
  constexpr std::string_view kTensorTypes[] = {"bf16", "fp16", "tf32",
                                               "fp8",  "int8", "fp64_tensor"};
  return flops.source() == SOURCE_RANGE || flops.source() == SOURCE_CALIBRATED ||
         std::find(std::begin(kTensorTypes), std::end(kTensorTypes), flops.data_type()) !=
             std::end(kTensorTypes);
}

}  // namespace

std::optional<double> TensorFlopsPerSecond(const Summary& summary, const DeviceSummary& device) {
  if (!device.has_hfu()) return std::nullopt;
  std::map<std::string, double> peaks;
  for (const PeakSummary& peak : device.peaks()) {
    if (peak.flops_per_second() > 0) peaks[peak.data_type()] = peak.flops_per_second();
  }
  double flops = 0;
  double peak_seconds = 0;
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.device_uuid() != device.uuid()) continue;
    for (const DataTypeFlops& typed : kernel.flops_by_type()) {
      const auto peak = peaks.find(typed.data_type());
      if (!IsOfHfu(typed) || peak == peaks.end()) continue;
      flops += typed.flops();
      peak_seconds += typed.flops() / peak->second;
    }
  }
  if (!(peak_seconds > 0)) return std::nullopt;
  return device.hfu() * flops / peak_seconds;
}

}  // namespace utlz
