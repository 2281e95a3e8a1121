#include "bench/sampling/simulated_run.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bench/sampling/launch_frames.h"
#include "bench/sampling/sample_frames.h"
#include "collector/run/run_intake.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/sampler/channel/sampler_options.h"
#include "collector/session/records_watch.h"
#include "collector/session/sampling_pace.h"
#include "collector/session/steady_work.h"
#include "collector/session/window_planner.h"
#include "inject/record/recent_work.h"
#include "inject/tracing/later_windows.h"
#include "inject/tracing/trace_budget.h"

namespace utlz {
namespace {

constexpr uint64_t kTickNs = 1'000'000;
constexpr uint64_t kAgentTurnNs = 20'000'000;
// Records come in CUPTI's buffers, which agents ask for twice a second and when tracing ends.
constexpr uint64_t kHandOverNs = 500'000'000;
// From a first pause until the agent has decided (LaterWindows::kDecisionNs).
constexpr uint64_t kDecisionNs = 300'000'000;
// Two looks at how many cores are idle come after the sampler has set up.
constexpr uint64_t kIdleKnownNs = 500'000'000;
constexpr uint64_t kCollectorFlushNs = 500'000'000;
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kNvmlPauseNs = 200'000'000;
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
        sampler_(ScheduleOptions(options.load.seed), options.costs, options.blind_to_records),
        planner_(0, options.load.seed),
        frames_(recorded, &intake_),
        samples_(recorded, &intake_) {
    budget_.Start(0, kBudgetPpm);
    later_.Start(agent::LaterPolicy::kAuto, kBudgetPpm, true);
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
    result_.counters_cost_share = sampler_.lost_ns() * 1e-9 / steps_seconds;
    if (recorded_steps_ns_ > 0) {
      result_.recorded_share =
          static_cast<double>(sampled_recorded_ns_) / static_cast<double>(recorded_steps_ns_);
    }
    return result_;
  }

 private:
  void Tick(uint64_t now_ns);
  void TakeLaunches(uint64_t now_ns);
  void AgentTurn(uint64_t now_ns);
  void FollowRecords(uint64_t now_ns, bool was_tracing);
  RecordsNow Records() const;
  void Count(const SampledWindow& window, uint64_t samples);
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
  agent::RecentWork recent_;
  agent::LaterWindows later_;
  RunIntake intake_;
  LaunchFrames frames_;
  SampleFrames samples_;
  std::vector<LoadLaunch> taken_;
  agent::PlannedWindow window_;
  bool tracing_ = true;
  RecordsState records_ = RECORDS_FROM_START;
  uint64_t paused_ns_ = 0;
  uint64_t recorded_steps_ns_ = 0;
  uint64_t sampled_recorded_ns_ = 0;
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
  if (now_ns == options_.costs.setup_ns + kIdleKnownNs) {
    sampler_.mutable_schedule()->SetIdleCpu(now_ns, options_.idle_cpu_ppm);
  }
  SendProgress(now_ns);
  CollectorTurn(now_ns);
  if (now_ns % kCollectorFlushNs == 0) Pace(now_ns);
  if (now_ns == load_.first_step_ns()) {
    result_.cpu_start_up_seconds = static_cast<double>(sampler_.cpu_ns()) * 1e-9;
    sampled_before_ns_ = sampler_.sampled_ns();
  }
  if (now_ns < load_.first_step_ns()) return;
  if (options_.power_limited && now_ns % kNvmlPauseNs == 0) sampler_.PowerLimits(now_ns);
  if (tracing_) traced_ns_ += kTickNs;
  if (records_ == RECORDS_FROM_START) recorded_steps_ns_ += kTickNs;
  if (IsJudged(now_ns - load_.first_step_ns())) Judge(now_ns);
}

void Simulation::TakeLaunches(uint64_t now_ns) {
  taken_.clear();
  load_.Take(now_ns + kTickNs, &taken_);
  for (const LoadLaunch& launch : taken_) {
    samples_.Ran(launch);
    if (frames_.Ran(launch, load_.kernels(), tracing_)) {
      sampler_.Request(now_ns);
      recent_.AddLoad(now_ns);
    }
    traced_launches_ += tracing_ ? 1 : 0;
  }
}

void Simulation::AgentTurn(uint64_t now_ns) {
  const bool was_tracing = tracing_;
  const bool holds_on = later_.HoldsOn(recent_.Before(now_ns), budget_.tracing_cost_ns());
  budget_.SetBeginning({holds_on, /*windows_follow=*/true});
  tracing_ = budget_.ShouldTrace(now_ns, traced_launches_, 0, window_);
  ready_ns_ = budget_.ReadyNs(now_ns);
  // The account for tracing knows no HostCost here: the time is that of a recording.
  if (options_.recorded_ns.has_value()) tracing_ = now_ns < *options_.recorded_ns;
  FollowRecords(now_ns, was_tracing);
  if (tracing_ != was_tracing) frames_.Switched(now_ns, tracing_);
}

void Simulation::FollowRecords(uint64_t now_ns, bool was_tracing) {
  if (records_ == RECORDS_FROM_START && was_tracing && !tracing_) {
    records_ = RECORDS_PAUSED;
    paused_ns_ = now_ns;
  } else if (records_ == RECORDS_PAUSED && now_ns >= paused_ns_ + kDecisionNs) {
    records_ = options_.recorded_ns.has_value() ? RECORDS_ENDED : RECORDS_IN_WINDOWS;
  }
  tracing_ = tracing_ && records_ != RECORDS_PAUSED && records_ != RECORDS_ENDED;
  frames_.SetRecordsState(records_);
}

// As the collector hears of it.
RecordsNow Simulation::Records() const {
  return options_.blind_to_records ? RecordsNow::kInWindows : frames_.records().now();
}

void Simulation::Count(const SampledWindow& window, uint64_t samples) {
  const bool in_steps = window.begin_ns >= load_.first_step_ns();
  (in_steps ? result_.samples_steps : result_.samples_start_up) += samples;
  if (records_ == RECORDS_ENDED) result_.samples_useless += samples;
  if (!in_steps || records_ != RECORDS_FROM_START) return;
  result_.samples_recorded += samples;
  sampled_recorded_ns_ += window.end_ns - window.begin_ns;
}

void Simulation::SamplerTurn(uint64_t now_ns) {
  if (const auto window = sampler_.Step(now_ns)) {
    const SampledWork work = samples_.Sampled(*window);
    Count(*window, work.samples);
    sampler_.Read(now_ns, work.samples, work.busy);
  }
  if (const auto ready_ns = sampler_.TakeReady()) {
    planner_.SamplerReady(frames_.uuid(), *ready_ns, sampler_.window_ns(), sampler_.lead_ns());
  }
}

void Simulation::CollectorTurn(uint64_t now_ns) {
  if (now_ns < planner_.next_ns() || traced_launches_ == 0) return;
  const std::set<std::string> all = {frames_.uuid()};
  const bool unrecorded = Records() == RecordsNow::kNone;
  planner_.SampleSeldom(unrecorded ? all : pace_.seldom());
  planner_.SampleAtOnce(Records() == RecordsNow::kThroughout ? all : std::set<std::string>());
  const auto agents_ready = [&](const std::string&) { return ready_ns_; };
  for (const DeviceWindow& window : planner_.Plan(now_ns, {{{frames_.uuid()}}}, agents_ready)) {
    window_ = {window.begin_ns, window.end_ns, 0};
    if (window.sampling_begin_ns != 0) sampler_.WindowAt(window.sampling_begin_ns);
  }
}

void Simulation::SendProgress(uint64_t now_ns) {
  if (!steady_work_.Due(now_ns)) return;
  std::vector<KernelTime> times;
  for (const Kernel& kernel : intake_.state().kernels.kernels()) {
    times.push_back(
        {kernel.device, kernel.durations.sum_ns(), kernel.last_start_ns - kernel.first_start_ns});
  }
  steady_work_.Look(now_ns, times);
  const bool perhaps_once = Records() == RecordsNow::kThroughout && steady_work_.AtWork(now_ns, 0);
  const uint64_t progress =
      ProgressOf(steady_work_.Steady(0), !pace_.seldom().empty(), perhaps_once);
  if (progress == progress_) return;
  progress_ = progress;
  sampler_.Progress(now_ns, progress);
}

void Simulation::Pace(uint64_t now_ns) {
  if (!samples_.any() || !pace_.Due(now_ns)) return;
  pace_.Looked(now_ns, kLookCostNs, CounterPrecisions(intake_.Advance()));
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
