#include "collector/summary/timeline.h"

#include <algorithm>
#include <set>

#include "collector/gpu_uuid.h"

namespace utlz {
namespace {

constexpr size_t kMaxKernelsShown = 12;

class TimelineBuilder {
 public:
  TimelineBuilder(uint64_t origin_ns, Summary* summary)
      : origin_ns_(origin_ns), summary_(summary) {}

  void Add(const char* name, const char* unit, const std::string& uuid,
           const BoundedSeries& series) {
    const std::vector<double> values = series.Values();
    const size_t first = IntervalsBeforeOrigin(series);
    if (first >= values.size()) return;
    TimelineSeries* result = summary_->add_timeline();
    result->set_name(name);
    result->set_unit(unit);
    if (!uuid.empty()) result->set_device_uuid(uuid);
    result->set_start_ns(series.start_ns() + first * series.interval_ns() - origin_ns_);
    result->set_interval_ns(series.interval_ns());
    for (size_t i = first; i < values.size(); ++i) result->add_value(values[i]);
  }

  void AddKernel(uint32_t id, const BoundedSeries& series) {
    const std::vector<double> shares = series.SharesOfInterval();
    const size_t first = IntervalsBeforeOrigin(series);
    if (first >= shares.size()) return;
    KernelActivity* result = summary_->add_kernel_activity();
    result->set_kernel_id(id);
    result->set_start_ns(series.start_ns() + first * series.interval_ns() - origin_ns_);
    result->set_interval_ns(series.interval_ns());
    for (size_t i = first; i < shares.size(); ++i) {
      result->add_busy_share(static_cast<float>(std::min(1.0, shares[i])));
    }
  }

 private:
  // The timeline begins with the run; a sampler may have begun earlier.
  size_t IntervalsBeforeOrigin(const BoundedSeries& series) const {
    if (series.start_ns() >= origin_ns_) return 0;
    return (origin_ns_ - series.start_ns() + series.interval_ns() - 1) / series.interval_ns();
  }

  uint64_t origin_ns_;
  Summary* summary_;
};

// Samples say more than GPM readings where there are any.
const BoundedSeries& Finer(const BoundedSeries& samples, const BoundedSeries& readings) {
  return samples.empty() ? readings : samples;
}

void AddDevice(const DeviceState& device, TimelineBuilder* builder) {
  const std::string uuid = FormatGpuUuid(device.uuid);
  builder->Add("gpu_busy", "share", uuid, device.busy_series);
  builder->Add("sm_active", "share", uuid,
               Finer(device.samples.sm_active_series(), device.totals.sm_active_series()));
  builder->Add("tensor_active", "share", uuid,
               Finer(device.samples.tensor_active_series(), device.totals.tensor_active_series()));
  builder->Add("dram_bytes_per_second", "byte/s", uuid, device.samples.dram_series());
  if (device.samples.dram_series().empty()) {
    builder->Add("dram_active", "share", uuid, device.totals.dram_active_series());
  }
  builder->Add("power_watts", "W", uuid, device.totals.power_series());
  builder->Add("memory_used_bytes", "byte", uuid, device.totals.memory_series());
  builder->Add("sm_clock_hz", "Hz", uuid, device.totals.clock_series());
}

}  // namespace

void SummarizeTimeline(const RunState& state, const Analysis& analysis, Summary* summary) {
  const uint64_t origin_ns = state.run_start.has_value() ? state.run_start->time_ns() : 0;
  TimelineBuilder builder(origin_ns, summary);
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (state.devices[i].used) AddDevice(state.devices[i], &builder);
  }
  std::vector<const KernelSummary*> kernels;
  for (const KernelSummary& kernel : summary->kernels()) kernels.push_back(&kernel);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto* a, const auto* b) { return a->time_ns() > b->time_ns(); });
  std::set<uint32_t> shown;
  for (const KernelSummary* kernel : kernels) {
    if (shown.size() >= kMaxKernelsShown) break;
    // Parts of one kernel share its activity: the largest stands for all.
    const uint32_t index = analysis.rows[kernel->id() - 1].kernel;
    if (!shown.insert(index).second) continue;
    const auto& series = state.devices[state.kernels[index].device].kernel_series.series();
    const auto found = series.find(index);
    if (found != series.end()) builder.AddKernel(kernel->id(), found->second);
  }
}

}  // namespace utlz
