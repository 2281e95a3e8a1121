#include "collector/analysis/counter_precision.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "collector/analysis/roofline.h"
#include "collector/normal_interval.h"
#include "collector/run/run_state.h"

namespace utlz {
namespace {

constexpr double kMattersShare = 0.01;  // of the kernels' time
// A step rarely takes longer: what did not run in that time before the last launch is over.
constexpr uint64_t kOverNs = 20'000'000'000;
constexpr double kMostWork = 0.5;  // of the time of those that are not communication
constexpr double kOfPossible = 2.0 / 3;
// Tensor FLOPs are to be known within 4 % where bytes are within 5 %.
constexpr double kTensorWeight = 5.0 / 4;

// What is known of a kernel, or of one part of it.
struct Known {
  double time_ns = 0;
  double mean_ns = 0;
  const KernelPart* part = nullptr;  // null: nothing
};

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

double Imprecision(const Known& known, const Ceilings& ceilings) {
  if (known.part == nullptr) return 1;
  const double seconds = known.mean_ns * 1e-9;
  const double of_bytes =
      Imprecision(*known.part, {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES},
                  seconds * ceilings.dram_bytes_per_second);
  const double of_tensor =
      Imprecision(*known.part, {METRIC_TENSOR_ACTIVE}, seconds * ceilings.clock_hz);
  return std::max(of_bytes, std::min(1.0, kTensorWeight * of_tensor));
}

uint64_t LastStartNs(const std::vector<Kernel>& kernels, uint32_t device) {
  uint64_t last_ns = 0;
  for (const Kernel& kernel : kernels) {
    if (kernel.device == device) last_ns = std::max(last_ns, kernel.last_start_ns);
  }
  return last_ns;
}

void AddParts(const Kernel& kernel, const std::vector<KernelPart>& parts,
              std::vector<Known>* known) {
  for (const KernelPart& part : parts) {
    const DurationHistogram durations =
        parts.size() > 1 ? kernel.durations.Slice(part.minimum_ns, part.maximum_ns)
                         : kernel.durations;
    known->push_back({static_cast<double>(durations.sum_ns()), durations.mean_ns(), &part});
  }
}

}  // namespace

double Imprecision(const RunState& state, uint32_t device, const Attribution& attribution) {
  const auto& kernels = state.kernels.kernels();
  double sum_ns = 0;
  double work_ns = 0;
  std::vector<Known> known;
  const uint64_t last_ns = LastStartNs(kernels, device);
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].device != device || kernels[i].last_start_ns + kOverNs < last_ns) continue;
    const auto time_ns = static_cast<double>(kernels[i].durations.sum_ns());
    sum_ns += time_ns;
    if (kernels[i].communication) continue;
    work_ns += time_ns;
    const auto parts = attribution.parts_by_kernel.find(i);
    if (parts != attribution.parts_by_kernel.end()) {
      AddParts(kernels[i], parts->second, &known);
    } else {
      known.push_back({.time_ns = time_ns});
    }
  }
  if (sum_ns <= 0) return 1;
  std::sort(known.begin(), known.end(),
            [](const Known& a, const Known& b) { return a.time_ns > b.time_ns; });
  const Ceilings ceilings = CeilingsOf(state.devices[device]);
  double worst = 0;
  double seen_ns = 0;
  for (const Known& one : known) {
    if (one.time_ns < kMattersShare * sum_ns && seen_ns >= kMostWork * work_ns) break;
    worst = std::max(worst, Imprecision(one, ceilings));
    seen_ns += one.time_ns;
  }
  return worst;
}

std::vector<CounterPrecision> CounterPrecisions(const RunState& state) {
  std::vector<CounterPrecision> precisions;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    if (!device.used || !device.attribution.has_samples()) continue;
    const Attribution attribution = device.attribution.Solve();
    precisions.push_back({.device_uuid = device.uuid,
                          .samples = attribution.samples,
                          .imprecision = Imprecision(state, i, attribution)});
  }
  return precisions;
}

}  // namespace utlz
