#include "collector/history/history_trends.h"

#include <algorithm>
#include <cmath>

#include "collector/metrics/label_text.h"
#include "collector/metrics/time_cause.h"

namespace utlz {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr size_t kMostLeftOut = 4096;
// A year: an interval that claims more is cut.
constexpr uint64_t kLongestIntervalNs = uint64_t{366} * 86400 * 1'000'000'000;

double Sane(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

bool IsIdle(TimeCause cause) {
  return cause == TimeCause::kIdleTurnaround || cause == TimeCause::kIdleLaunch ||
         cause == TimeCause::kIdleReadback || cause == TimeCause::kIdleInput ||
         cause == TimeCause::kIdleOther;
}

std::string HexOf(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

// The last run against the one before; nothing where either does not know.
template <typename Value>
std::optional<double> Change(const HistoryJob& job, const Value& value) {
  if (job.runs_size() < 2) return std::nullopt;
  const std::optional<double> last = value(job.runs(job.runs_size() - 1).figures());
  const std::optional<double> before = value(job.runs(job.runs_size() - 2).figures());
  if (!last || !before || *before <= 0) return std::nullopt;
  return *last / *before;
}

std::optional<double> HfuOf(const HistoryFigures& figures) {
  return figures.has_hfu() ? std::make_optional(figures.hfu()) : std::nullopt;
}

std::optional<double> StepSecondsOf(const HistoryFigures& figures) {
  return figures.has_step_seconds() ? std::make_optional(figures.step_seconds()) : std::nullopt;
}

}  // namespace

HistoryTrends::HistoryTrends(uint64_t since_ns, uint64_t until_ns)
    : since_ns_(std::min(since_ns, until_ns)),
      until_ns_(until_ns),
      part_ns_((until_ns - since_ns_) / kMostParts + 1) {}

void HistoryTrends::Add(const HistoryInterval& interval) {
  if (interval.end_ns() <= since_ns_) return;
  Run* run = RunOf(interval);
  if (run == nullptr) return;
  ++intervals_;
  if (interval.end_ns() > until_ns_ && interval.end_ns() - until_ns_ > kToleranceNs) {
    ++intervals_ahead_;
  }
  const uint64_t duration_ns = std::min(interval.duration_ns(), kLongestIntervalNs);
  const uint64_t begin_ns = interval.end_ns() - std::min(duration_ns, interval.end_ns());
  const bool is_first = run->intervals++ == 0;
  run->begin_ns = is_first ? begin_ns : std::min(run->begin_ns, begin_ns);
  run->end_ns = std::max(run->end_ns, interval.end_ns());
  run->first_number = is_first ? interval.number() : std::min(run->first_number, interval.number());
  run->last_number = std::max(run->last_number, interval.number());
  run->ended = run->ended || interval.last();
  for (const HistoryDevice& device : interval.device()) {
    if (run->devices.size() < kMostDevices) run->devices.insert(LabelText(device.uuid()));
  }
  AddTo(&run->whole, interval, begin_ns);
  const uint64_t part = (interval.end_ns() - since_ns_) / part_ns_;
  AddTo(&run->parts[static_cast<uint32_t>(std::min<uint64_t>(part, kMostParts - 1))], interval,
        begin_ns);
}

HistoryTrends::Run* HistoryTrends::RunOf(const HistoryInterval& interval) {
  const auto found = runs_.find(interval.run());
  if (found != runs_.end()) return &jobs_[found->second.first].runs[found->second.second];
  const std::string name = LabelText(interval.job());
  const std::string host = LabelText(interval.host());
  if (runs_.size() >= kMostRuns) {
    if (left_out_.size() < kMostLeftOut) left_out_.insert(host + '\0' + name);
    return nullptr;
  }
  const auto [place, is_new] = places_.emplace(std::make_pair(host, name), jobs_.size());
  if (is_new) jobs_.push_back({.name = name, .host = host, .runs = {}});
  Job& job = jobs_[place->second];
  runs_.emplace(interval.run(), std::make_pair(place->second, job.runs.size()));
  Run& run = job.runs.emplace_back();
  run.id = interval.run().substr(0, 16);
  run.program = LabelText(interval.program());
  run.profile = LabelText(interval.profile());
  return &run;
}

void HistoryTrends::AddTo(Figures* figures, const HistoryInterval& interval, uint64_t begin_ns) {
  const double seconds =
      static_cast<double>(std::min(interval.duration_ns(), kLongestIntervalNs)) * kSecondsPerNs;
  figures->begin_ns = figures->seconds == 0 ? begin_ns : std::min(figures->begin_ns, begin_ns);
  figures->seconds += seconds;
  figures->launches_dropped += Sane(interval.launches_dropped());
  const auto add = [seconds](bool known, double value, Known* to) {
    if (!known) return;
    to->sum += Sane(value);
    to->seconds += seconds;
  };
  const auto add_mean = [seconds](bool known, double value, Known* to) {
    if (!known) return;
    to->sum += Sane(value) * seconds;
    to->seconds += seconds;
  };
  add(interval.has_steps(), interval.steps(), &figures->steps);
  add(interval.has_tokens(), interval.tokens(), &figures->tokens);
  add(interval.has_items(), interval.items(), &figures->items);
  for (const HistoryDevice& device : interval.device()) {
    figures->kernel_seconds += Sane(device.kernel_seconds());
    figures->uncounted_seconds += Sane(device.uncounted_seconds());
    const int causes = std::min(device.cause_seconds_size(), static_cast<int>(kTimeCauses));
    for (int i = 0; i < causes; ++i) {
      const auto cause = static_cast<TimeCause>(i);
      const double time = Sane(device.cause_seconds(i));
      figures->all_seconds += time;
      if (cause == TimeCause::kUntraced) continue;
      figures->traced_seconds += time;
      if (!IsIdle(cause)) figures->busy_seconds += time;
    }
    add(device.has_flops_peak_seconds(), device.flops_peak_seconds(), &figures->peak);
    add(device.has_dram_read_bytes() || device.has_dram_write_bytes(),
        Sane(device.dram_read_bytes()) + Sane(device.dram_write_bytes()), &figures->dram);
    add_mean(device.has_sm_active(), device.sm_active(), &figures->sm_active);
    add_mean(device.has_nvml_busy(), device.nvml_busy(), &figures->nvml_busy);
    if (device.has_recoverable_seconds()) {
      figures->recoverable_seconds =
          figures->recoverable_seconds.value_or(0) + Sane(device.recoverable_seconds());
    }
    if (device.has_energy_joules()) {
      figures->energy_joules = figures->energy_joules.value_or(0) + Sane(device.energy_joules());
    }
  }
}

HistoryFigures HistoryTrends::Shown(const Figures& figures, size_t devices) {
  HistoryFigures shown;
  shown.set_begin_ns(figures.begin_ns);
  shown.set_seconds(figures.seconds);
  shown.set_devices(static_cast<uint32_t>(devices));
  shown.set_launches_dropped(figures.launches_dropped);
  const auto set = [](const Known& known, const auto& setter) {
    if (known.seconds > 0) setter(known.sum / known.seconds);
  };
  // Where most of the kernels' time has no counters, the rest says little of the whole.
  if (figures.uncounted_seconds <= 0.5 * figures.kernel_seconds) {
    set(figures.peak, [&](double value) { shown.set_hfu(value); });
    set(figures.dram, [&](double value) { shown.set_dram_bytes_per_second(value); });
  }
  set(figures.sm_active, [&](double value) { shown.set_sm_active(value); });
  set(figures.nvml_busy, [&](double value) { shown.set_nvml_busy(value); });
  set(figures.tokens, [&](double value) { shown.set_tokens_per_second(value); });
  set(figures.items, [&](double value) { shown.set_items_per_second(value); });
  if (figures.steps.seconds > 0) shown.set_steps(figures.steps.sum);
  if (figures.steps.sum > 0) {
    shown.set_step_seconds(figures.steps.seconds / figures.steps.sum);
  }
  if (figures.traced_seconds > 0) {
    shown.set_busy(figures.busy_seconds / figures.traced_seconds);
    shown.set_traced_share(figures.traced_seconds / figures.all_seconds);
  }
  if (figures.kernel_seconds > 0) {
    shown.set_uncounted_share(std::min(1.0, figures.uncounted_seconds / figures.kernel_seconds));
    if (figures.recoverable_seconds) {
      shown.set_savings_share(*figures.recoverable_seconds / figures.kernel_seconds);
    }
  }
  if (figures.energy_joules) shown.set_energy_joules(*figures.energy_joules);
  return shown;
}

HistoryRun HistoryTrends::Shown(const Run& run) {
  HistoryRun shown;
  shown.set_run(HexOf(run.id));
  shown.set_program(run.program);
  shown.set_profile(run.profile);
  shown.set_begin_ns(run.begin_ns);
  shown.set_end_ns(run.end_ns);
  shown.set_ended(run.ended);
  shown.set_intervals(run.intervals);
  const uint64_t numbers = uint64_t{run.last_number} - run.first_number + 1;
  shown.set_intervals_missing(numbers - std::min(numbers, run.intervals));
  *shown.mutable_figures() = Shown(run.whole, run.devices.size());
  for (const auto& [part, figures] : run.parts) {
    *shown.add_course() = Shown(figures, run.devices.size());
  }
  return shown;
}

HistoryReport HistoryTrends::Finish(uint64_t unreadable_bytes) const {
  HistoryReport report;
  report.set_schema("utlz.history/1");
  report.set_since_ns(since_ns_);
  report.set_until_ns(until_ns_);
  report.set_intervals(intervals_);
  report.set_intervals_ahead(intervals_ahead_);
  report.set_unreadable_bytes(unreadable_bytes);
  report.set_jobs_left_out(left_out_.size());
  for (const Job& job : jobs_) {
    HistoryJob* out = report.add_jobs();
    out->set_job(job.name);
    out->set_host(job.host);
    for (const Run& run : job.runs) *out->add_runs() = Shown(run);
    std::stable_sort(out->mutable_runs()->begin(), out->mutable_runs()->end(),
                     [](const HistoryRun& one, const HistoryRun& other) {
                       return one.begin_ns() < other.begin_ns();
                     });
    if (const auto change = Change(*out, HfuOf)) out->set_hfu_change(*change);
    if (const auto change = Change(*out, StepSecondsOf)) out->set_step_time_change(*change);
  }
  return report;
}

}  // namespace utlz
