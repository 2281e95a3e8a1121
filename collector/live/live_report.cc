#include "collector/live/live_report.h"

#include <algorithm>
#include <optional>
#include <string>

#include "collector/analysis/analyze.h"
#include "collector/analysis/reference_peak.h"
#include "collector/live/live_message.h"
#include "collector/run/model_work.h"
#include "collector/summary/step_summary.h"
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

std::string CountersReason(const ModelState& model) {
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const DeviceState& device = model.devices[i];
    if (device.used && device.status && !device.status->reason().empty()) {
      return Text(device.status->reason());
    }
  }
  return {};
}

}  // namespace

LiveSnapshot LiveReport::Take(const ModelState& model, uint64_t time_ns) {
  Summary summary;
  const std::optional<StepsSpan> steps = SummarizeSteps(model, &summary);
  const Analysis analysis = Analyze(model, steps);
  worths_.Renew(model, analysis);
  work_.Update(model, worths_);
  time_.Update(model, work_);
  devices_.Update(model, work_, time_);
  processes_.Update(model, work_);
  kernels_.Update(model);
  progress_.Update(model, summary.steps());
  if (begun_ns_ == 0) begun_ns_ = model.NewestNs();
  LiveSnapshot snapshot;
  snapshot.set_time_ns(time_ns);
  snapshot.set_span_ns(std::min(Recent<int>::kLengthNs, model.NewestNs() - begun_ns_));
  if (model.run_start) {
    snapshot.set_start_time_ns(model.run_start->time_ns());
    snapshot.set_command(CommandOf(*model.run_start));
  }
  snapshot.set_counters_reason(CountersReason(model));
  devices_.AddTo(model, analysis, &snapshot);
  processes_.AddTo(model, &snapshot);
  kernels_.AddTo(model, analysis, &snapshot);
  AddJob(model, analysis, &snapshot);
  return snapshot;
}

void LiveReport::AddJob(const ModelState& model, const Analysis& analysis,
                        LiveSnapshot* snapshot) const {
  const std::optional<double> steps = progress_.steps();
  if (!steps) return;
  snapshot->set_steps(*steps);
  const std::optional<double> step_seconds = progress_.step_seconds();
  if (!step_seconds || *step_seconds <= 0) return;
  snapshot->set_step_seconds(*step_seconds);
  const double model_flops = FlopsPerStep(model.work);
  const double peak = PeakOfRun(model, analysis).flops_per_second;
  if (model_flops <= 0 || peak <= 0) return;
  const double mfu = model_flops / *step_seconds / peak;
  if (mfu <= 2) snapshot->set_mfu(mfu);
}

}  // namespace utlz
