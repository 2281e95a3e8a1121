#include "tools/report/text.h"

#include "tools/report/kernels_of_steps.h"
#include "tools/report/text_sections.h"

namespace utlz {

std::string RenderText(const Summary& summary, const TextOptions& options) {
  const Summary in_steps = WithKernelsOfSteps(summary);
  std::string text = RenderRun(summary, options);
  const auto add = [&](const std::string& section) {
    if (!section.empty()) text += "\n" + section;
  };
  add(RenderLadder(summary, options));
  add(RenderFindings(summary, options));
  add(RenderUtilization(summary, options) + RenderEfficiency(summary, options));
  add(RenderAlerts(summary, options));
  add(RenderApplication(summary, options));
  add(RenderCapture(summary, options));
  switch (options.group_by) {
    case GroupBy::kKernel:
      add(RenderKernels(in_steps, options));
      add(RenderRoofline(in_steps, options));
      if (summary.has_owners()) add(RenderCoverage(summary.owners(), options));
      add(RenderCopies(summary, options));
      add(RenderCommunication(summary, options));
      add(RenderIdle(summary, options) + RenderSteps(summary, options) +
          RenderMemory(summary, options));
      add(RenderWaterfall(summary, options));
      if (summary.processes_size() > 1) add(RenderProcesses(summary, options));
      add(RenderRanks(summary, options));
      break;
    case GroupBy::kLayer:
    case GroupBy::kLine:
    case GroupBy::kOperation:
      add(RenderOwners(summary, options));
      break;
    case GroupBy::kNvtx:
      add(RenderMarkers(summary, options));
      break;
    case GroupBy::kStream:
      add(RenderStreams(summary, options));
      break;
    case GroupBy::kDevice:
      add(RenderDevices(summary, options));
      add(RenderWaterfall(summary, options));
      break;
    case GroupBy::kProcess:
      add(RenderProcesses(summary, options));
      break;
  }
  return text;
}

}  // namespace utlz
