#include "collector/model/efficiency.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "collector/model/kernel_class.h"
#include "collector/model/waterfall.h"

namespace utlz {
namespace {

// Growth is believed when it rises for this share of the time and reaches this share of the memory.
constexpr double kLeakShare = 0.02;
constexpr size_t kFewestReadings = 8;

double Seconds(double time_ns) { return time_ns * 1e-9; }

// The peak that model FLOPs are compared with: of the tensor type that most FLOPs were done in.
struct ReferencePeak {
  double flops_per_second = 0;
  double flops_per_second_maximum_clock = 0;
};

ReferencePeak PeakOf(const DeviceAnalysis& device) {
  ReferencePeak peak;
  const auto per_cycle = device.ceilings.FlopsPerCycle(device.fallback_type);
  if (!per_cycle.has_value()) return peak;
  peak.flops_per_second = *per_cycle * device.ceilings.clock_hz;
  peak.flops_per_second_maximum_clock = *per_cycle * device.ceilings.clock_maximum_hz;
  return peak;
}

void SetHfu(const ModelState& model, const Analysis& analysis, const Summary& summary,
            EfficiencySummary* efficiency) {
  double busy_weighted = 0;
  double window_ns = 0;
  for (const DeviceSummary& device : summary.devices()) {
    if (!device.has_hfu()) continue;
    busy_weighted += device.hfu() * static_cast<double>(device.window_ns());
    window_ns += static_cast<double>(device.window_ns());
  }
  if (window_ns <= 0) return;
  const double hfu = busy_weighted / window_ns;
  efficiency->set_hfu(hfu);
  double clock_share = 0;
  for (const DeviceSummary& device : summary.devices()) {
    if (!device.has_hfu() || device.sm_clock_maximum_hz() <= 0) continue;
    clock_share += device.sm_clock_hz() / device.sm_clock_maximum_hz() *
                   static_cast<double>(device.window_ns()) / window_ns;
  }
  if (clock_share > 0) efficiency->set_hfu_maximum_clock(hfu * std::min(1.0, clock_share));
  double compute_ns = 0;
  double roofline_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    const auto roof = RooflineTimeNs(row.roofline);
    if (!roof.has_value() || row.roofline.communication) continue;
    roofline_ns += *roof;
    const Ceilings& ceilings = analysis.devices[model.kernels[row.kernel].device].ceilings;
    for (const TypedFlops& flops : row.work.flops) {
      const auto peak = ceilings.FlopsPerSecond(flops.data_type);
      if (flops.upper_bound || !peak.has_value()) continue;
      compute_ns += row.launches * flops.flops / *peak * 1e9;
    }
  }
  if (roofline_ns > 0) efficiency->set_attainable_hfu(compute_ns / roofline_ns);
}

void SetMfu(const ModelState& model, const Analysis& analysis, const Summary& summary,
            EfficiencySummary* efficiency) {
  const double step_seconds = Seconds(summary.steps().time_mean_ns());
  if (step_seconds <= 0) return;
  if (model.options.tokens_per_step > 0) {
    efficiency->set_tokens_per_second(model.options.tokens_per_step / step_seconds);
  }
  if (model.options.model_flops_per_step <= 0) return;
  efficiency->set_model_flops_per_step(model.options.model_flops_per_step);
  ReferencePeak sum;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    if (!model.devices[i].used) continue;
    const ReferencePeak peak = PeakOf(analysis.devices[i]);
    sum.flops_per_second += peak.flops_per_second;
    sum.flops_per_second_maximum_clock += peak.flops_per_second_maximum_clock;
  }
  const double model_rate = model.options.model_flops_per_step / step_seconds;
  if (sum.flops_per_second > 0) {
    efficiency->set_mfu(model_rate / sum.flops_per_second);
    efficiency->set_mfu_note("model FLOPs a step as given, over the mean step without warm-up; peak "
                             "dense, of the data type that most tensor time went to, at the clock "
                             "that was seen");
  }
  if (sum.flops_per_second_maximum_clock > 0) {
    efficiency->set_mfu_maximum_clock(model_rate / sum.flops_per_second_maximum_clock);
  }
  if (!efficiency->has_mfu() || !efficiency->has_hfu()) return;
  const bool more_done = efficiency->hfu() > 1.02 * efficiency->mfu();
  efficiency->set_gap_note(more_done ? "more FLOPs were executed than the model needs: "
                                       "recomputation, padding, or work outside the model"
                                     : "executed and model FLOPs agree, or some steps did nothing");
}

void SetEnergy(const ModelState& model, const Summary& summary, EfficiencySummary* efficiency) {
  double joules = 0;
  double flops = 0;
  double window_ns = 0;
  bool all = summary.devices_size() > 0;
  for (const DeviceSummary& device : summary.devices()) {
    all = all && device.has_energy_joules();
    joules += device.energy_joules();
    flops += device.flops();
    window_ns = std::max(window_ns, static_cast<double>(device.window_ns()));
  }
  if (!all || joules <= 0 || window_ns <= 0) return;
  if (flops > 0) efficiency->set_flops_per_joule(flops / joules);
  if (summary.steps().time_mean_ns() <= 0) return;
  efficiency->set_joules_per_step(joules * summary.steps().time_mean_ns() / window_ns);
  if (model.options.tokens_per_step > 0) {
    efficiency->set_tokens_per_joule(model.options.tokens_per_step / efficiency->joules_per_step());
  }
}

// What is lost is what the waterfall does not call useful.
void SetCost(const ModelState& model, const Summary& summary, EfficiencySummary* efficiency) {
  if (model.options.price_per_hour <= 0) return;
  efficiency->set_price_per_hour(model.options.price_per_hour);
  const double per_ns = model.options.price_per_hour / 3600e9;
  if (summary.steps().time_mean_ns() > 0) {
    efficiency->set_cost_per_step(per_ns * summary.steps().time_mean_ns());
  }
  double useful_share = 0;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name() == kSliceUseful) useful_share = slice.share();
  }
  if (summary.run().has_wall_ns() && efficiency->has_hfu()) {
    efficiency->set_cost_lost(per_ns * static_cast<double>(summary.run().wall_ns()) *
                              (1 - useful_share));
  }
}

// Slope by least squares over the second half: the first is start-up.
struct Trend {
  double slope_per_second = 0;
  double rising_share = 0;
};

std::optional<Trend> TrendOf(const BoundedSeries& series) {
  const std::vector<double> values = series.Values();
  std::vector<std::pair<double, double>> points;
  for (size_t i = values.size() / 2; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      points.emplace_back(Seconds(static_cast<double>(i * series.interval_ns())), values[i]);
    }
  }
  if (points.size() < kFewestReadings) return std::nullopt;
  const auto count = static_cast<double>(points.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& [x, y] : points) mean_x += x / count, mean_y += y / count;
  double covariance = 0;
  double variance = 0;
  size_t rising = 0;
  size_t falling = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    covariance += (points[i].first - mean_x) * (points[i].second - mean_y);
    variance += (points[i].first - mean_x) * (points[i].first - mean_x);
    if (i == 0) continue;
    rising += points[i].second > points[i - 1].second ? 1 : 0;
    falling += points[i].second < points[i - 1].second ? 1 : 0;
  }
  if (variance <= 0) return std::nullopt;
  Trend trend = {.slope_per_second = covariance / variance};
  if (rising + falling > 0) {
    trend.rising_share = static_cast<double>(rising) / static_cast<double>(rising + falling);
  }
  return trend;
}

}  // namespace

void SummarizeEfficiency(const ModelState& model, const Analysis& analysis, Summary* summary) {
  EfficiencySummary efficiency;
  SetHfu(model, analysis, *summary, &efficiency);
  SetMfu(model, analysis, *summary, &efficiency);
  SetEnergy(model, *summary, &efficiency);
  SetCost(model, *summary, &efficiency);
  if (efficiency.ByteSizeLong() > 0) *summary->mutable_efficiency() = std::move(efficiency);
}

// The device whose memory is fullest speaks for the run.
void SummarizeMemory(const ModelState& model, Summary* summary) {
  double fullest = -1;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const DeviceState& device = model.devices[i];
    const auto used = device.totals.memory_used_max();
    const uint64_t whole =
        device.peaks.has_value() ? device.peaks->memory_bytes() : device.info.memory_bytes();
    if (!device.used || !used.has_value() || whole == 0) continue;
    const double whole_bytes = static_cast<double>(whole);
    if (*used / whole_bytes <= fullest) continue;
    fullest = *used / whole_bytes;
    MemorySummary memory;
    memory.set_used_bytes_max(*used);
    memory.set_headroom_bytes(std::max(0.0, whole_bytes - *used));
    memory.set_source("NVML: memory reserved on the device, by the job's allocators and by others");
    if (const auto trend = TrendOf(device.totals.memory_series())) {
      const BoundedSeries& series = device.totals.memory_series();
      const double span = Seconds(static_cast<double>(series.Values().size() * series.interval_ns()));
      memory.set_growth_bytes_per_second(trend->slope_per_second);
      if (summary->steps().time_mean_ns() > 0) {
        memory.set_growth_bytes_per_step(trend->slope_per_second *
                                         Seconds(summary->steps().time_mean_ns()));
      }
      memory.set_leak_suspected(trend->rising_share > 0.8 &&
                                trend->slope_per_second * span / 2 > kLeakShare * whole_bytes);
    }
    *summary->mutable_memory() = std::move(memory);
  }
}

void SummarizeCommunication(const ModelState& model, const Analysis& analysis, Summary* summary) {
  struct Sum {
    double launches = 0;
    double time_ns = 0;
  };
  std::map<std::string, Sum> by_collective;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = model.kernels[row.kernel];
    if (!kernel.communication) continue;
    Sum& sum = by_collective[std::string(CollectiveOf(kernel.mangled_name))];
    sum.launches += row.launches;
    sum.time_ns += row.time_ns;
  }
  double exposed_ns = 0;
  for (const DeviceSummary& device : summary->devices()) {
    exposed_ns += static_cast<double>(device.exposed_communication_ns());
  }
  for (const auto& [collective, sum] : by_collective) {
    CommunicationSummary* communication = summary->add_communication();
    communication->set_collective(collective);
    communication->set_launches(static_cast<uint64_t>(std::llround(sum.launches)));
    communication->set_time_ns(static_cast<uint64_t>(sum.time_ns));
    // Exposed time is known for the device; with one collective it is that one's.
    if (by_collective.size() == 1) communication->set_exposed_ns(static_cast<uint64_t>(exposed_ns));
  }
}

}  // namespace utlz
