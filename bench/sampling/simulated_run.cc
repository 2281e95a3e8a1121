#include "bench/sampling/simulated_run.h"

#include <algorithm>
#include <string>
#include <vector>

#include "bench/sampling/launch_frames.h"
#include "bench/sampling/sample_frames.h"
#include "collector/run/run_intake.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/sampler/channel/sampler_options.h"
#include "collector/session/sampling_pace.h"
#include "collector/session/steady_work.h"
#include "collector/session/window_planner.h"
#include "inject/tracing/trace_budget.h"

namespace utlz {
namespace {

constexpr uint64_t kTickNs = 1'000'000;
constexpr uint64_t kAgentTurnNs = 20'000'000;
constexpr uint64_t kHandOverNs = 50'000'000;
constexpr uint64_t kCollectorFlushNs = 500'000'000;
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kLookCostNs = 50'000'000;
constexpr uint32_t kBudgetPpm = 10'000;

WindowScheduleOptions ScheduleOptions(uint64_t seed) {
  const SamplerOptions defaults;
  WindowScheduleOptions options;
  options.duty_ppm = defaults.duty_ppm;
  options.cpu_budget_ppm = defaults.cpu_budget_ppm;
  options.cpu_burst_ns = defaults.cpu_burst_ns;
  options.steady_reserve_ns = SteadyReserveNs(defaults.cpu_burst_ns);
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
        frames_(recorded, &intake_),
        samples_(recorded, &intake_) {
    budget_.Start(0, kBudgetPpm);
    sampler_.mutable_schedule()->SetIdleCpu(0, options.idle_cpu_ppm);
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
  void SendProgress(uint64_t now_ns);
  void Pace(uint64_t now_ns);
  void Judge(uint64_t now_ns);

  const RecordedLoad& recorded_;
  const SimulationOptions options_;
  const uint64_t end_ns_;
  StartUpLoad load_;
  SimulatedSampler sampler_;
  WindowPlanner planner_;
  SamplingPace pace_;
  SteadyWork steady_work_;
  uint64_t progress_ = 0;
  agent::TraceBudget budget_;
  RunIntake intake_;
  LaunchFrames frames_;
  SampleFrames samples_;
  std::vector<LoadLaunch> taken_;
  agent::PlannedWindow window_;
  bool tracing_ = true;
  uint64_t traced_launches_ = 0;
  uint64_t ready_ns_ = 0;
  uint64_t traced_ns_ = 0;
  uint64_t sampled_before_ns_ = 0;
  SimulationResult result_;
};

// Often at first: a look at everything takes a second of real time.
bool IsJudged(uint64_t stepped_ns) {
  if (stepped_ns <= 3 * kSecondNs) return stepped_ns > 0 && stepped_ns % (kSecondNs / 2) == 0;
  return stepped_ns % (2 * kSecondNs) == 0;
}

bool Crosses(uint64_t time_ns, uint64_t now_ns) {
  return now_ns <= time_ns && time_ns < now_ns + kTickNs;
}

void Simulation::Tick(uint64_t now_ns) {
  const bool window_changes = Crosses(window_.begin_ns, now_ns) || Crosses(window_.end_ns, now_ns);
  if (now_ns % kAgentTurnNs == 0 || window_changes) AgentTurn(now_ns);
  TakeLaunches(now_ns);
  SamplerTurn(now_ns + kTickNs);
  if (now_ns % kHandOverNs == 0) frames_.HandOver(now_ns);
  SendProgress(now_ns);
  CollectorTurn(now_ns);
  if (now_ns % kCollectorFlushNs == 0) Pace(now_ns);
  if (now_ns == load_.first_step_ns()) {
    result_.cpu_start_up_seconds = static_cast<double>(sampler_.cpu_ns()) * 1e-9;
    sampled_before_ns_ = sampler_.sampled_ns();
  }
  if (now_ns < load_.first_step_ns()) return;
  if (tracing_) traced_ns_ += kTickNs;
  if (IsJudged(now_ns - load_.first_step_ns())) Judge(now_ns);
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
  if (now_ns < planner_.next_ns() || traced_launches_ == 0) return;
  const auto agents_ready = [&](const std::string&) { return ready_ns_; };
  for (const DeviceWindow& window : planner_.Plan(now_ns, {frames_.uuid()}, agents_ready)) {
    window_ = {window.begin_ns, window.end_ns, 0};
    if (window.sampling_begin_ns != 0) sampler_.WindowAt(window.sampling_begin_ns);
  }
}

void Simulation::SendProgress(uint64_t now_ns) {
  if (!steady_work_.Due(now_ns)) return;
  std::vector<KernelTime> times;
  for (const Kernel& kernel : intake_.state().kernels.kernels()) {
    times.push_back({kernel.device, kernel.durations.sum_ns()});
  }
  steady_work_.Look(now_ns, times);
  const uint64_t progress = ProgressOf(steady_work_.Steady(0), !pace_.seldom().empty());
  if (progress == progress_) return;
  progress_ = progress;
  sampler_.Progress(now_ns, progress);
}

void Simulation::Pace(uint64_t now_ns) {
  if (!samples_.any() || !pace_.Due(now_ns)) return;
  pace_.Looked(now_ns, kLookCostNs, CounterPrecisions(intake_.Advance()));
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
  const std::optional<ReportPrecision> precision = PrecisionIfItEndedNow(&intake_, load_);
  if (!precision.has_value()) return;
  result_.last = *precision;
  Note(result_.last.any_bytes, seconds, &result_.first_bytes);
  Note(result_.last.bytes < 1, seconds, &result_.all_bytes);
  Note(IsGood(result_.last), seconds, &result_.good);
  Note(IsBetter(result_.last), seconds, &result_.better);
}

}  // namespace

SimulationResult SimulateRun(const RecordedLoad& recorded, const SimulationOptions& options) {
  return Simulation(recorded, options).Run();
}

}  // namespace utlz
