#include "bench/sampling/simulated_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "bench/sampling/launch_frames.h"
#include "bench/sampling/sample_frames.h"
#include "collector/run/run_model.h"
#include "collector/sampler/channel/sampler_options.h"
#include "collector/session/sampling_pace.h"
#include "collector/session/window_planner.h"
#include "collector/summarize/summary_builder.h"
#include "inject/tracing/trace_budget.h"

namespace utlz {
namespace {

constexpr uint64_t kTickNs = 1'000'000;
constexpr uint64_t kAgentTurnNs = 20'000'000;
constexpr uint64_t kHandOverNs = 50'000'000;
constexpr uint64_t kCollectorFlushNs = 500'000'000;
constexpr uint64_t kJudgeNs = 250'000'000;
constexpr uint64_t kLookCostNs = 10'000'000;
constexpr uint32_t kBudgetPpm = 10'000;
constexpr double kMattersShare = 0.01;   // of the step's kernel time
constexpr double kMovesBytes = 0.02;     // of the peak: else its bytes are of no interest
constexpr double kUsesTensorCores = 0.1; // the same
constexpr double kNormal95 = 1.96;

WindowScheduleOptions ScheduleOptions(uint64_t seed) {
  const SamplerOptions defaults;
  WindowScheduleOptions options;
  options.duty_ppm = defaults.duty_ppm;
  options.cpu_budget_ppm = defaults.cpu_budget_ppm;
  options.cpu_burst_ns = defaults.cpu_burst_ns;
  options.seed = seed;
  return options;
}

class Simulation {
 public:
  Simulation(const RecordedLoad& recorded, const SimulationOptions& options)
      : recorded_(recorded),
        options_(options),
        end_ns_(options.load.start_up_ns + options.steps_ns),
        load_(recorded, options.load),
        sampler_(ScheduleOptions(options.load.seed), options.costs),
        planner_(0, options.load.seed),
        frames_(recorded, &model_),
        samples_(recorded, &model_) {
    budget_.Start(0, kBudgetPpm);
    frames_.Begin();
    samples_.Begin();
  }

  SimulationResult Run() {
    for (uint64_t now_ns = 0; now_ns < end_ns_; now_ns += kTickNs) Tick(now_ns);
    const double steps_seconds = static_cast<double>(options_.steps_ns) * 1e-9;
    result_.cpu_steps_seconds =
        static_cast<double>(sampler_.cpu_ns()) * 1e-9 - result_.cpu_start_up_seconds;
    result_.sampled_share =
        static_cast<double>(sampler_.sampled_ns() - sampled_before_ns_) * 1e-9 / steps_seconds;
    result_.traced_share = static_cast<double>(traced_ns_) * 1e-9 / steps_seconds;
    return result_;
  }

 private:
  void Tick(uint64_t now_ns);
  void TakeLaunches(uint64_t now_ns);
  void AgentTurn(uint64_t now_ns);
  void SamplerTurn(uint64_t now_ns);
  void CollectorTurn(uint64_t now_ns);
  void Pace(uint64_t now_ns);
  void Judge(uint64_t now_ns);
  ReportPrecision Precision();

  const RecordedLoad& recorded_;
  const SimulationOptions options_;
  const uint64_t end_ns_;
  StartUpLoad load_;
  SimulatedSampler sampler_;
  WindowPlanner planner_;
  SamplingPace pace_;
  inject::TraceBudget budget_;
  RunModel model_;
  LaunchFrames frames_;
  SampleFrames samples_;
  std::vector<LoadLaunch> taken_;
  inject::PlannedWindow window_;
  bool tracing_ = true;
  uint64_t traced_launches_ = 0;
  uint64_t ready_ns_ = 0;
  uint64_t traced_ns_ = 0;
  uint64_t sampled_before_ns_ = 0;
  SimulationResult result_;
};

bool Crosses(uint64_t time_ns, uint64_t now_ns) {
  return now_ns <= time_ns && time_ns < now_ns + kTickNs;
}

void Simulation::Tick(uint64_t now_ns) {
  const bool window_changes = Crosses(window_.begin_ns, now_ns) || Crosses(window_.end_ns, now_ns);
  if (now_ns % kAgentTurnNs == 0 || window_changes) AgentTurn(now_ns);
  TakeLaunches(now_ns);
  SamplerTurn(now_ns + kTickNs);
  if (now_ns % kHandOverNs == 0) frames_.HandOver(now_ns);
  CollectorTurn(now_ns);
  if (now_ns % kCollectorFlushNs == 0) Pace(now_ns);
  if (now_ns == load_.first_step_ns()) {
    result_.cpu_start_up_seconds = static_cast<double>(sampler_.cpu_ns()) * 1e-9;
    sampled_before_ns_ = sampler_.sampled_ns();
  }
  if (now_ns < load_.first_step_ns()) return;
  if (tracing_) traced_ns_ += kTickNs;
  if ((now_ns - load_.first_step_ns()) % kJudgeNs == 0) Judge(now_ns);
}

void Simulation::TakeLaunches(uint64_t now_ns) {
  taken_.clear();
  load_.Take(now_ns + kTickNs, &taken_);
  for (const LoadLaunch& launch : taken_) {
    samples_.Ran(launch);
    if (frames_.Ran(launch, load_.kernels(), tracing_)) sampler_.Request(now_ns);
    traced_launches_ += tracing_ ? 1 : 0;
  }
}

void Simulation::AgentTurn(uint64_t now_ns) {
  const bool was_tracing = tracing_;
  tracing_ = budget_.ShouldTrace(now_ns, traced_launches_, 0, window_);
  ready_ns_ = budget_.ReadyNs(now_ns);
  if (tracing_ != was_tracing) frames_.Switched(now_ns, tracing_);
}

void Simulation::SamplerTurn(uint64_t now_ns) {
  if (const auto window = sampler_.Step(now_ns)) {
    const SampledWork work = samples_.Sampled(*window);
    (window->begin_ns < load_.first_step_ns() ? result_.samples_start_up : result_.samples_steps) +=
        work.samples;
    sampler_.Read(now_ns, work.samples, work.busy);
  }
  if (const auto ready_ns = sampler_.TakeReady()) {
    planner_.SamplerReady(frames_.uuid(), *ready_ns, sampler_.window_ns());
  }
}

void Simulation::CollectorTurn(uint64_t now_ns) {
  if (now_ns < planner_.next_ns()) return;
  const auto agents_ready = [&](const std::string&) { return ready_ns_; };
  for (const DeviceWindow& window : planner_.Plan(now_ns, {frames_.uuid()}, agents_ready)) {
    window_ = {window.begin_ns, window.end_ns, 0};
    if (window.sampling_begin_ns != 0) sampler_.WindowAt(window.sampling_begin_ns);
  }
}

void Simulation::Pace(uint64_t now_ns) {
  if (!samples_.any() || !pace_.Due(now_ns)) return;
  pace_.Looked(now_ns, kLookCostNs, CounterPrecisions(model_.Advance()));
  planner_.SampleSeldom(pace_.seldom());
}

void Note(bool reached, double seconds, std::optional<double>* since) {
  if (!reached) {
    since->reset();
  } else if (!since->has_value()) {
    *since = seconds;
  }
}

void Simulation::Judge(uint64_t now_ns) {
  const double seconds = static_cast<double>(now_ns - load_.first_step_ns()) * 1e-9;
  result_.last = Precision();
  Note(result_.last.any_bytes, seconds, &result_.first_bytes);
  Note(result_.last.bytes < 1, seconds, &result_.all_bytes);
  Note(IsGood(result_.last), seconds, &result_.good);
  Note(IsBetter(result_.last), seconds, &result_.better);
}

// Of one kernel, in all its kinds.
struct Found {
  double bytes = 0, bytes_error = 0, flops = 0, flops_error = 0, launches = 0;
  bool known = false, tensor_known = false;
};

void Add(const KernelSummary& kernel, Found* found) {
  const auto launches = static_cast<double>(kernel.launches());
  found->launches += launches;
  found->known = found->known || (kernel.has_dram_bytes() && !kernel.has_withheld());
  found->bytes += kernel.dram_bytes();
  found->bytes_error += kernel.dram_bytes_error();
  for (const DataTypeFlops& type : kernel.flops_by_type()) {
    if (type.data_type() == "fp32" || !type.has_flops_error()) continue;
    found->tensor_known = true;
    found->flops += type.flops();
    found->flops_error += type.flops_error();
  }
}

double Relative(double error, double value) { return value > 0 ? std::min(1.0, error / value) : 1; }

ReportPrecision Simulation::Precision() {
  const Summary summary = Summarize(model_.Advance());
  const double peak_bytes = recorded_.peaks.dram_bytes_per_second();
  const double clock_hz = recorded_.peaks.sm_clock_maximum_hz();
  ReportPrecision precision{.any_bytes = false, .bytes = 0, .tensor_flops = 0, .bytes_error = 0,
                            .tensor_flops_error = 0};
  for (uint32_t i = 0; i < load_.step_kernels(); ++i) {
    const RecordedKernel& kernel = load_.kernels()[i];
    if (load_.TimeShare(i) < kMattersShare) continue;
    Found found;
    for (const KernelSummary& one : summary.kernels()) {
      const bool same = one.mangled_name() == kernel.name && one.grid_size() == 3 &&
                        std::equal(kernel.grid.begin(), kernel.grid.end(), one.grid().begin());
      if (same) Add(one, &found);
    }
    const double true_bytes = kernel.work.dram_read_bytes + kernel.work.dram_write_bytes;
    precision.any_bytes = precision.any_bytes || found.known;
    if (true_bytes > kMovesBytes * peak_bytes * kernel.time_ns * 1e-9) {
      const double wide = found.known ? Relative(kNormal95 * found.bytes_error, found.bytes) : 1;
      precision.bytes = std::max(precision.bytes, wide);
      const double off = std::abs(found.bytes / found.launches - true_bytes);
      if (found.known) {
        precision.bytes_error = std::max(precision.bytes_error, Relative(off, true_bytes));
      }
    }
    const double most_cycles =
        4.0 * recorded_.device.multiprocessors() * clock_hz * kernel.time_ns * 1e-9;
    if (kernel.work.tensor_cycles > kUsesTensorCores * most_cycles) {
      const double wide =
          found.tensor_known ? Relative(kNormal95 * found.flops_error, found.flops) : 1;
      precision.tensor_flops = std::max(precision.tensor_flops, wide);
    }
  }
  return precision;
}

}  // namespace

bool IsGood(const ReportPrecision& precision) {
  return precision.bytes <= 0.1 && precision.tensor_flops <= 0.05;
}

bool IsBetter(const ReportPrecision& precision) {
  return precision.bytes <= 0.05 && precision.tensor_flops <= 0.04;
}

SimulationResult SimulateRun(const RecordedLoad& recorded, const SimulationOptions& options) {
  return Simulation(recorded, options).Run();
}

}  // namespace utlz
