#include "collector/summarize/summary_builder.h"

#include "collector/analysis/analysis.h"
#include "collector/analysis/analyze.h"
#include "collector/analysis/traced_slowdown.h"
#include "collector/diagnosis/alerts.h"
#include "collector/diagnosis/cupti_notices.h"
#include "collector/diagnosis/findings.h"
#include "collector/diagnosis/sampling_notices.h"
#include "collector/diagnosis/what_is_known.h"
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
#include "collector/summary/step_levels.h"
#include "collector/summary/step_summary.h"
#include "collector/summary/timeline.h"
#include "collector/summary/waterfall.h"
#include "collector/summary/window_summary.h"

namespace utlz {

Summary Summarize(const ModelState& model) {
  Summary summary;
  summary.set_schema("utlz.report/1");
  SummarizeRun(model, &summary);
  const Analysis analysis = Analyze(model, SummarizeSteps(model, &summary));
  TakePausesOutOfSteps(analysis, &summary);
  TakeSlowdownOutOfSteps(analysis, &summary);
  if (summary.has_steps()) CopyStepTimes(summary.mutable_steps());
  SummarizeWindow(model, analysis, &summary);
  SummarizePhases(model, analysis, &summary);
  SummarizeProcesses(model, &summary);
  SummarizeDevices(model, analysis, &summary);
  SummarizeKernels(model, analysis, &summary);
  SummarizeCopies(model, &summary);
  SummarizeMarkers(model, analysis, &summary);
  SummarizeCapture(model, analysis, &summary);
  AddCuptiNotices(model, &summary);
  AddSamplingNotices(model, &summary);
  SummarizeFamilies(model, analysis, &summary);
  SummarizeOwners(model, analysis, &summary);
  SummarizeLadder(model, analysis, &summary);
  SummarizeWaterfall(model, analysis, &summary);
  SummarizeEfficiency(model, analysis, &summary);
  SummarizeEnergyAndCost(model, analysis, &summary);
  SummarizeMemory(model, analysis, &summary);
  SummarizeCommunication(model, analysis, &summary);
  SummarizeTimeline(model, analysis, &summary);
  SummarizeFindings(model, analysis, &summary);
  SayWhatIsKnown(model.run_start.has_value() ? model.run_start->counters() : "", &summary);
  SummarizeApplication(model, &summary);
  SummarizeAlarms(model, &summary);
  RaiseAlerts(model.run_start.has_value() ? model.run_start->alert_limits() : AlertLimits(),
              &summary);
  return summary;
}

}  // namespace utlz
