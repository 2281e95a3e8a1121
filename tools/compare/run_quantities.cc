#include "tools/compare/run_quantities.h"

#include <algorithm>
#include <cmath>

#include "tools/compare/overhead_adjustment.h"
#include "tools/compare/statistics.h"

namespace utlz {
namespace {

using Result = std::optional<Estimate>;

// Mean over devices, weighted by how long each was watched. Unknown where one does not know it.
Result DeviceMean(const Summary& run, bool (DeviceSummary::*has)() const,
                  double (DeviceSummary::*get)() const) {
  double sum = 0;
  double weight = 0;
  for (const DeviceSummary& device : run.devices()) {
    if (!(device.*has)()) return std::nullopt;
    const double window = std::max<double>(1, static_cast<double>(device.steady_state_ns()));
    sum += (device.*get)() * window;
    weight += window;
  }
  if (weight == 0) return std::nullopt;
  return Estimate{sum / weight, 0};
}

// A mean step as a share of the window that the devices' times and the waterfall are of, by its
// length: with tracing in windows, fewer steps were traced than the run held.
std::optional<double> StepOfWindow(const Summary& run, const PerWhat& per) {
  const std::optional<Estimate> step = StepTime(run);
  if (!per.step || !step || !run.steady_state().has_time_ns() ||
      run.steady_state().time_ns() <= 0) {
    return std::nullopt;
  }
  return step->value / run.steady_state().time_ns();
}

// As collector/summary/timeline.cc names it.
constexpr char kPowerSeries[] = "power_watts";

Result DeviceSum(const Summary& run, double divisor, bool (DeviceSummary::*has)() const,
                 double (DeviceSummary::*get)() const, double (DeviceSummary::*error)() const) {
  Estimate sum;
  for (const DeviceSummary& device : run.devices()) {
    if (!(device.*has)()) return std::nullopt;
    sum.value += (device.*get)() / divisor;
    if (error != nullptr) sum.error = std::hypot(sum.error, (device.*error)() / divisor);
  }
  if (run.devices().empty()) return std::nullopt;
  return sum;
}

Result WithRelativeError(Result estimate, double relative) {
  if (estimate) estimate->error = std::hypot(estimate->error, estimate->value * relative);
  return estimate;
}

// The error of a quantity per time includes the error of the time.
Result WithErrorOfTime(const Summary& run, const Result& estimate) {
  return WithRelativeError(estimate, TimeError(run));
}

Result Hfu(const Summary& run, const PerWhat&) {
  if (IsMostlyUncounted(run)) return std::nullopt;
  // Of several GPUs each weighs by its peak, which an older summary did not heed.
  if (run.devices_size() > 1 && run.efficiency().has_hfu_error()) {
    return WithErrorOfTime(run, Estimate{run.efficiency().hfu(), run.efficiency().hfu_error()});
  }
  Result mean = DeviceMean(run, &DeviceSummary::has_hfu, &DeviceSummary::hfu);
  if (mean)
    mean->error = DeviceMean(run, &DeviceSummary::has_hfu, &DeviceSummary::hfu_error)->value;
  return WithErrorOfTime(run, mean);
}

Result Mfu(const Summary& run, const PerWhat&) {
  if (!run.efficiency().has_mfu()) return std::nullopt;
  return WithErrorOfTime(run, Estimate{run.efficiency().mfu(), 0});
}

Result TokensPerSecond(const Summary& run, const PerWhat&) {
  if (!run.efficiency().has_tokens_per_second()) return std::nullopt;
  return WithErrorOfTime(run, Estimate{run.efficiency().tokens_per_second(), 0});
}

// The clock that counters measured. Absent where they covered few kernels: those few need not have
// run at the clock of the others.
Result Clock(const Summary& run, const PerWhat&) {
  if (IsMostlyUncounted(run)) return std::nullopt;
  Result mean = DeviceMean(run, &DeviceSummary::has_sm_clock_hz, &DeviceSummary::sm_clock_hz);
  const Result error =
      DeviceMean(run, &DeviceSummary::has_sm_clock_error_hz, &DeviceSummary::sm_clock_error_hz);
  if (mean && error) mean->error = error->value;
  return mean;
}

template <bool (DeviceSummary::*has)() const, double (DeviceSummary::*get)() const>
Result Share(const Summary& run, const PerWhat&) {
  return WithErrorOfTime(run, DeviceMean(run, has, get));
}

// As `Share`, for a quantity that only counters measure.
template <bool (DeviceSummary::*has)() const, double (DeviceSummary::*get)() const>
Result CountedShare(const Summary& run, const PerWhat& per) {
  if (IsMostlyUncounted(run)) return std::nullopt;
  return Share<has, get>(run, per);
}

// The error of all bytes is at least that of those read and of those written.
template <bool (DeviceSummary::*has)() const, double (DeviceSummary::*get)() const,
          double (DeviceSummary::*error)() const>
Result Total(const Summary& run, const PerWhat& per) {
  if (IsMostlyUncounted(run)) return std::nullopt;
  return DeviceSum(run, per.divisor, has, get, error);
}

std::vector<double> ReadingsInWindow(const TimelineSeries& series,
                                     const SteadyStateSummary& window) {
  std::vector<double> readings;
  for (int i = 0; i < series.value_size(); ++i) {
    const auto time_ns =
        static_cast<double>(series.start_ns() + static_cast<uint64_t>(i) * series.interval_ns());
    const bool inside =
        !window.has_start_ns() || (time_ns >= window.start_ns() && time_ns <= window.end_ns());
    if (inside && std::isfinite(series.value(i))) readings.push_back(series.value(i));
  }
  return readings;
}

// As a share of it. Power rises over seconds, and each reading is the mean of one.
double PowerError(const Summary& run) {
  constexpr double kReadingNs = 1e9;
  double worst = 0;
  for (const TimelineSeries& series : run.timeline()) {
    if (series.name() != kPowerSeries) continue;
    const std::vector<double> readings = ReadingsInWindow(series, run.steady_state());
    const double mean = Mean(readings);
    if (mean <= 0) continue;
    const double span_ns =
        static_cast<double>(readings.size()) * static_cast<double>(series.interval_ns());
    const auto batches = static_cast<size_t>(std::clamp(span_ns / kReadingNs, 2.0, 16.0));
    worst = std::max(worst, BatchMeansError(readings, batches).value_or(0) / mean);
  }
  return worst;
}

Result Power(const Summary& run, const PerWhat&) {
  const Result mean = DeviceMean(run, &DeviceSummary::has_power_watts, &DeviceSummary::power_watts);
  return WithRelativeError(WithErrorOfTime(run, mean), PowerError(run));
}

// The energy of the steps alone where it is known, since start-up belongs to no step.
Result Energy(const Summary& run, const PerWhat& per) {
  if (per.step && run.efficiency().has_joules_per_step()) {
    const Estimate energy = {run.efficiency().joules_per_step(), 0};
    return WithRelativeError(WithErrorOfTime(run, energy), PowerError(run));
  }
  return DeviceSum(run, per.divisor, &DeviceSummary::has_energy_joules,
                   &DeviceSummary::energy_joules, nullptr);
}

Result MeanStep(const Summary& run, const PerWhat&) { return StepTime(run); }
Result MedianStep(const Summary& run, const PerWhat&) { return MedianStepTime(run); }

std::vector<double> ListedSteps(const StepsSummary& steps) {
  const size_t warmup =
      std::min<size_t>(steps.warmup_steps(), static_cast<size_t>(steps.time_ns_size()));
  return {steps.time_ns().begin() + static_cast<ptrdiff_t>(warmup), steps.time_ns().end()};
}

// Absent where the run has steps: the time of a step compares better than that of the run.
Result WallWithoutSteps(const Summary& run, const PerWhat& per) {
  if (StepTime(run)) return std::nullopt;
  return WallTime(run, per.divisor);
}

}  // namespace

const std::vector<RunQuantity>& RunQuantities() {
  using D = DeviceSummary;
  static const std::vector<RunQuantity> quantities = {
      {"step_time_ns", "ns", false, MeanStep},
      {"step_time_median_ns", "ns", false, MedianStep},
      {"wall_ns", "ns", false, WallWithoutSteps},
      {"kernel_time_ns", "ns", false, KernelTime},
      {"tokens_per_second", "1/s", true, TokensPerSecond},
      {"hfu", "share", true, Hfu},
      {"mfu", "share", true, Mfu},
      {"gpu_busy_share", "share", true, Share<&D::has_gpu_busy_share, &D::gpu_busy_share>},
      {"sm_active_share", "share", true,
       CountedShare<&D::has_sm_active_share, &D::sm_active_share>},
      {"tensor_active_share", "share", true,
       CountedShare<&D::has_tensor_active_share, &D::tensor_active_share>},
      {"hbm_bandwidth_share", "share", true,
       CountedShare<&D::has_hbm_bandwidth_share, &D::hbm_bandwidth_share>},
      {"sm_clock_hz", "Hz", true, Clock},
      {"power_watts", "W", false, Power},
      {"flops", "FLOP", false, Total<&D::has_flops, &D::flops, &D::flops_error>},
      {"dram_read_bytes", "B", false,
       Total<&D::has_dram_read_bytes, &D::dram_read_bytes, &D::dram_bytes_error>},
      {"dram_write_bytes", "B", false,
       Total<&D::has_dram_write_bytes, &D::dram_write_bytes, &D::dram_bytes_error>},
      {"energy_joules", "J", false, Energy},
  };
  return quantities;
}

bool IsMostlyUncounted(const Summary& run) {
  constexpr double kMostly = 0.5;
  return run.capture().kernel_time_without_counters_share() > kMostly;
}

std::optional<Estimate> StepTime(const Summary& run) {
  const StepsSummary& steps = run.steps();
  if (!steps.has_time_mean_ns() || steps.steps() == 0) return std::nullopt;
  const std::vector<double> listed = ListedSteps(steps);
  // One step says nothing of the next.
  const double of_one = listed.size() == 1 ? steps.time_mean_ns() : 0;
  const double error = BatchMeansError(listed).value_or(of_one);
  return Estimate{steps.time_mean_ns(),
                  std::hypot(error, TracingError(run) * steps.time_mean_ns())};
}

double TimeError(const Summary& run) {
  const std::optional<Estimate> step = StepTime(run);
  return step && step->value > 0 ? step->error / step->value : TracingError(run);
}

std::optional<Estimate> MedianStepTime(const Summary& run) {
  const StepsSummary& steps = run.steps();
  const std::optional<double> error = BatchMediansError(ListedSteps(steps));
  if (!StepTime(run) || !steps.has_time_p50_ns() || !error) return std::nullopt;
  return Estimate{steps.time_p50_ns(),
                  std::hypot(*error, TracingError(run) * steps.time_mean_ns())};
}

std::optional<Estimate> WallTime(const Summary& run, double divisor) {
  if (!run.run().has_wall_ns()) return std::nullopt;
  return Estimate{static_cast<double>(run.run().wall_ns()) / divisor, 0};
}

std::optional<Estimate> KernelTime(const Summary& run, const PerWhat& per) {
  double sum = 0;
  for (const DeviceSummary& device : run.devices()) {
    if (!device.has_kernel_time_ns()) return std::nullopt;
    sum += static_cast<double>(device.kernel_time_ns());
  }
  if (run.devices().empty()) return std::nullopt;
  if (per.step && run.devices_size() == 1 && run.steps().has_kernel_time_ns()) {
    return Estimate{run.steps().kernel_time_ns(), 0};
  }
  const std::optional<double> step = StepOfWindow(run, per);
  return Estimate{step ? sum * *step : sum / per.divisor, 0};
}

double SliceTime(const WaterfallSlice& slice, const PerWhat& per) {
  if (per.step && slice.has_time_per_step_ns()) return slice.time_per_step_ns();
  return slice.time_ns() / per.divisor;
}

std::optional<double> StepsHeld(const Summary& run) {
  const StepsSummary& steps = run.steps();
  if (steps.steps() == 0) return std::nullopt;
  if (steps.launches() > 0) {
    double launches = 0;
    for (const KernelSummary& kernel : run.kernels()) {
      launches += static_cast<double>(kernel.launches());
    }
    if (launches > 0) return launches / steps.launches();
  }
  return static_cast<double>(steps.steps());
}

}  // namespace utlz
