#include "collector/model/counter_precision.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "collector/model/model_state.h"
#include "collector/model/roofline.h"

namespace utlz {
namespace {

constexpr double kNormal95 = 1.959964;
constexpr double kMattersShare = 0.01;  // of the kernels' time
constexpr double kOfPossible = 2.0 / 3;

// Of the sum of counters of one launch, in which the GPU could count `possible`.
double Imprecision(const KernelPart& part, std::initializer_list<MetricRole> roles,
                   double possible) {
  double value = 0;
  double variance = 0;
  for (const MetricRole role : roles) {
    const auto& counter = part.counters[role];
    if (!counter.has_value()) return 1;
    value += counter->value;
    variance += counter->error * counter->error;
  }
  const double scale = std::max(value, kOfPossible * possible);
  return scale > 0 ? std::min(1.0, kNormal95 * std::sqrt(variance) / scale) : 1;
}

double Imprecision(const KernelPart& part, double mean_ns, const Ceilings& ceilings) {
  const double seconds = mean_ns * 1e-9;
  return std::max(Imprecision(part, {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES},
                              seconds * ceilings.dram_bytes_per_second),
                  Imprecision(part, {METRIC_TENSOR_ACTIVE}, seconds * ceilings.clock_hz));
}

// Of the parts that take `matters_ns` or more.
double Imprecision(const Kernel& kernel, const std::vector<KernelPart>& parts, double matters_ns,
                   const Ceilings& ceilings) {
  double worst = 0;
  for (const KernelPart& part : parts) {
    const DurationHistogram durations =
        parts.size() > 1 ? kernel.durations.Slice(part.minimum_ns, part.maximum_ns)
                         : kernel.durations;
    if (static_cast<double>(durations.sum_ns()) < matters_ns) continue;
    worst = std::max(worst, Imprecision(part, durations.mean_ns(), ceilings));
  }
  return worst;
}

double ImprecisionOn(const ModelState& model, uint32_t device, const Attribution& attribution) {
  const Ceilings ceilings = CeilingsOf(model.devices[device]);
  const auto& kernels = model.kernels.kernels();
  double sum_ns = 0;
  for (const Kernel& kernel : kernels) {
    if (kernel.device == device) sum_ns += static_cast<double>(kernel.durations.sum_ns());
  }
  if (sum_ns <= 0) return 1;
  const double matters_ns = kMattersShare * sum_ns;
  double worst = 0;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const Kernel& kernel = kernels[i];
    const bool matters = static_cast<double>(kernel.durations.sum_ns()) >= matters_ns;
    if (kernel.device != device || kernel.communication || !matters) continue;
    const auto parts = attribution.parts_by_kernel.find(i);
    if (parts == attribution.parts_by_kernel.end()) return 1;
    worst = std::max(worst, Imprecision(kernel, parts->second, matters_ns, ceilings));
  }
  return worst;
}

}  // namespace

std::vector<CounterPrecision> CounterPrecisions(const ModelState& model) {
  std::vector<CounterPrecision> precisions;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const DeviceState& device = model.devices[i];
    if (!device.used || !device.attribution.has_samples()) continue;
    const Attribution attribution = device.attribution.Solve();
    precisions.push_back({.device_uuid = device.uuid,
                          .samples = attribution.samples,
                          .imprecision = ImprecisionOn(model, i, attribution)});
  }
  return precisions;
}

}  // namespace utlz
