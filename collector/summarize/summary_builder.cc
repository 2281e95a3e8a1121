#include "collector/summarize/summary_builder.h"

#include "collector/analysis/analysis.h"
#include "collector/analysis/analyze.h"
#include "collector/analysis/traced_slowdown.h"
#include "collector/diagnosis/alerts.h"
#include "collector/diagnosis/cupti_notices.h"
#include "collector/diagnosis/ending_notices.h"
#include "collector/diagnosis/findings.h"
#include "collector/diagnosis/sampling_notices.h"
#include "collector/diagnosis/what_is_known.h"
#include "collector/steps/step_levels.h"
#include "collector/steps/step_summary.h"
#include "collector/summary/alarm_summary.h"
#include "collector/summary/application_summary.h"
#include "collector/summary/capture_summary.h"
#include "collector/summary/communication_summary.h"
#include "collector/summary/device_summary.h"
#include "collector/summary/efficiency.h"
#include "collector/summary/energy_and_cost.h"
#include "collector/summary/family_summary.h"
#include "collector/summary/kernel_summary.h"
#include "collector/summary/ladder.h"
#include "collector/summary/marker_summary.h"
#include "collector/summary/memory_summary.h"
#include "collector/summary/owners_summary.h"
#include "collector/summary/phases.h"
#include "collector/summary/run_summary.h"
#include "collector/summary/steady_state_summary.h"
#include "collector/summary/timeline.h"
#include "collector/summary/waterfall.h"

namespace utlz {

Summary Summarize(const RunState& state, unsigned threads) {
  Summary summary;
  summary.set_schema("utlz.report/1");
  SummarizeRun(state, &summary);
  const Analysis analysis = Analyze(state, SummarizeSteps(state, &summary), threads);
  TakePausesOutOfSteps(analysis, &summary);
  TakeSlowdownOutOfSteps(analysis, &summary);
  if (summary.has_steps()) CopyStepTimes(summary.mutable_steps());
  SummarizeSteadyState(state, analysis, &summary);
  SummarizePhases(state, analysis, &summary);
  SummarizeProcesses(state, &summary);
  SummarizeDevices(state, analysis, &summary);
  SummarizeKernels(state, analysis, &summary);
  SummarizeCopies(state, &summary);
  SummarizeMarkers(state, analysis, &summary);
  SummarizeCapture(state, analysis, &summary);
  AddCuptiNotices(state, &summary);
  AddEndingNotices(state, &summary);
  AddSamplingNotices(state, &summary);
  SummarizeFamilies(state, analysis, &summary);
  SummarizeOwners(state, analysis, &summary);
  SummarizeLadder(state, analysis, &summary);
  SummarizeWaterfall(state, analysis, &summary);
  SummarizeEfficiency(state, analysis, &summary);
  SummarizeEnergyAndCost(state, analysis, &summary);
  SummarizeMemory(state, analysis, &summary);
  SummarizeCommunication(state, analysis, &summary);
  SummarizeTimeline(state, analysis, &summary);
  SummarizeFindings(state, analysis, &summary);
  SayWhatIsKnown(state.run_start.has_value() ? state.run_start->counters() : "", &summary);
  SummarizeApplication(state, &summary);
  SummarizeAlarms(state, &summary);
  RaiseAlerts(state.run_start.has_value() ? state.run_start->alert_limits() : AlertLimits(),
              &summary);
  return summary;
}

}  // namespace utlz
