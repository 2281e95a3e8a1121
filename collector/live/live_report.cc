#include "collector/live/live_report.h"

#include <algorithm>
#include <optional>
#include <string>

#include "collector/analysis/analyze.h"
#include "collector/live/live_message.h"
#include "collector/metrics/compute_share.h"
#include "collector/run/workload_spec.h"
#include "collector/steps/step_summary.h"
#include "proto/valid_text.h"

namespace utlz {
namespace {

std::string Text(std::string text) {
  if (text.size() > kMaxLiveTextBytes) text.resize(kMaxLiveTextBytes);
  MakeValidUtf8(text.data(), text.size());
  return text;
}

std::string CommandOf(const RunStart& start) {
  std::string command;
  for (const std::string& word : start.command()) {
    if (command.size() > kMaxLiveTextBytes) break;
    if (!command.empty()) command += ' ';
    command += word;
  }
  return Text(std::move(command));
}

std::string CountersReason(const RunState& run_state) {
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    const DeviceState& device = run_state.devices[i];
    if (device.used && device.status && !device.status->reason().empty()) {
      return Text(device.status->reason());
    }
  }
  return {};
}

}  // namespace

void LiveReport::RenewWhatIsDue(const RunState& run_state, uint64_t monotonic_ns) {
  const auto cost_of = [this](auto renew) {
    const uint64_t cpu_before_ns = cpu_ns_();
    renew();
    return cpu_ns_() - cpu_before_ns;
  };
  if (worth_pace_.Due(run_state, monotonic_ns)) {
    worth_pace_.Renewed(run_state, monotonic_ns, cost_of([&] { RenewWorth(run_state); }));
  }
  if (steps_pace_.Due(monotonic_ns)) {
    steps_pace_.Renewed(monotonic_ns, cost_of([&] { RenewSteps(run_state); }));
  }
}

void LiveReport::RenewWorth(const RunState& run_state) {
  Summary summary;
  const Analysis analysis = Analyze(run_state, SummarizeSteps(run_state, &summary));
  worths_.Renew(run_state, analysis);
  devices_.Renew(run_state, analysis);
  kernels_.Renew(run_state, analysis);
}

void LiveReport::RenewSteps(const RunState& run_state) {
  Summary summary;
  const auto span = SummarizeSteps(run_state, &summary);
  progress_.Update(run_state, summary.steps(), span);
  process_progress_.Update(run_state, summary.steps(), span);
}

LiveSnapshot LiveReport::Take(const RunState& run_state, uint64_t time_ns) {
  work_.Update(run_state, worths_);
  time_.Update(run_state, work_);
  devices_.Update(run_state, work_, time_);
  processes_.Update(run_state, work_);
  kernels_.Update(run_state);
  owners_.Update(run_state, kernels_.whole_run());
  if (begun_ns_ == 0) begun_ns_ = run_state.NewestNs();
  LiveSnapshot snapshot;
  snapshot.set_time_ns(time_ns);
  snapshot.set_span_ns(std::min(Recent<int>::kLengthNs, run_state.NewestNs() - begun_ns_));
  if (run_state.run_start) {
    snapshot.set_start_time_ns(run_state.run_start->time_ns());
    snapshot.set_command(CommandOf(*run_state.run_start));
  }
  snapshot.set_counters_reason(CountersReason(run_state));
  devices_.AddTo(run_state, &snapshot);
  processes_.AddTo(run_state, process_progress_, &snapshot);
  kernels_.AddTo(run_state, &snapshot);
  owners_.AddTo(run_state, &snapshot);
  AddJob(run_state, &snapshot);
  return snapshot;
}

void LiveReport::AddJob(const RunState& run_state, LiveSnapshot* snapshot) const {
  const std::optional<double> steps = progress_.steps();
  if (!steps) return;
  snapshot->set_steps(*steps);
  const std::optional<double> step_seconds = progress_.StepSeconds();
  if (!step_seconds || *step_seconds <= 0) return;
  snapshot->set_step_seconds(*step_seconds);
  const auto mfu = MfuOf(step_seconds, FlopsPerStep(run_state.work), worths_.peak_of_run());
  if (mfu.has_value()) snapshot->set_mfu(*mfu);
}

}  // namespace utlz
