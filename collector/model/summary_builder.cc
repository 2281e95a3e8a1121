#include "collector/model/summary_builder.h"

#include "collector/model/alerts.h"
#include "collector/model/analysis.h"
#include "collector/model/capture_summary.h"
#include "collector/model/communication_summary.h"
#include "collector/model/cupti_notices.h"
#include "collector/model/device_summary.h"
#include "collector/model/efficiency.h"
#include "collector/model/energy_and_cost.h"
#include "collector/model/findings.h"
#include "collector/model/kernel_summary.h"
#include "collector/model/marker_summary.h"
#include "collector/model/memory_summary.h"
#include "collector/model/run_summary.h"
#include "collector/model/sampling_notices.h"
#include "collector/model/step_summary.h"
#include "collector/model/timeline.h"
#include "collector/model/traced_slowdown.h"
#include "collector/model/waterfall.h"
#include "collector/model/window_summary.h"

namespace utlz {

Summary BuildSummary(const ModelState& model) {
  Summary summary;
  summary.set_schema("utlz.report/1");
  SummarizeRun(model, &summary);
  const Analysis analysis = Analyze(model, SummarizeSteps(model, &summary));
  TakePausesOutOfSteps(analysis, &summary);
  TakeSlowdownOutOfSteps(analysis, &summary);
  SummarizeWindow(model, analysis, &summary);
  SummarizeProcesses(model, &summary);
  SummarizeDevices(model, analysis, &summary);
  SummarizeKernels(model, analysis, &summary);
  SummarizeCopies(model, &summary);
  SummarizeMarkers(model, analysis, &summary);
  SummarizeCapture(model, analysis, &summary);
  AddCuptiNotices(model, &summary);
  AddSamplingNotices(model, &summary);
  SummarizeWaterfall(model, analysis, &summary);
  SummarizeEfficiency(model, analysis, &summary);
  SummarizeEnergyAndCost(model, analysis, &summary);
  SummarizeMemory(model, analysis, &summary);
  SummarizeCommunication(model, analysis, &summary);
  SummarizeTimeline(model, analysis, &summary);
  SummarizeFindings(model, analysis, &summary);
  RaiseAlerts(model.run_start.has_value() ? model.run_start->alert_limits() : AlertLimits(),
              &summary);
  return summary;
}

}  // namespace utlz
