#include "collector/metrics/process_progress.h"

#include "collector/steps/found_steps.h"
#include "collector/steps/step_summary.h"

namespace utlz {
namespace {

bool Lives(const RunState& run_state, uint32_t source) {
  const auto found = run_state.processes.processes().find(source);
  return found != run_state.processes.processes().end() && found->second->live();
}

}  // namespace

void ProcessProgress::Update(const RunState& run_state, const StepsSummary& of_run,
                             const std::optional<StepsSpan>& span) {
  std::erase_if(progress_, [&](const auto& entry) { return !Lives(run_state, entry.first); });
  for (const auto& [source, process] : run_state.processes.processes()) {
    if (!process->live() || process->recorded_until_ns.empty()) continue;
    if (!progress_.contains(source) && progress_.size() >= kMostProcesses) continue;
    if (WorksAlone(run_state, source)) {
      progress_[source].Update(run_state, of_run, span);
      continue;
    }
    Summary summary;
    const auto own = SummarizeStepsOf(run_state, source, &summary);
    progress_[source].Update(run_state, summary.steps(), own);
  }
}

std::optional<double> ProcessProgress::StepSeconds(uint32_t source) const {
  const auto found = progress_.find(source);
  return found == progress_.end() ? std::nullopt : found->second.StepSeconds();
}

}  // namespace utlz
