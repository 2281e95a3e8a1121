// The parts of the text report. Each returns whole lines, or nothing where it has nothing to say.
#ifndef UTLZ_TOOLS_REPORT_TEXT_SECTIONS_H_
#define UTLZ_TOOLS_REPORT_TEXT_SECTIONS_H_

#include <string>

#include "proto/summary.pb.h"
#include "tools/report/text_options.h"

namespace utlz {

std::string RenderRun(const Summary& summary, const TextOptions& options);
std::string RenderPhases(const Summary& summary, const TextOptions& options);
// How many steps there are, and what they are parts of; or that none were found.
std::string RenderLevels(const Summary& summary, const TextOptions& options);
// What a step would take if one loss after another were gone, what to do first, and the families of
// kernels.
std::string RenderLadder(const Summary& summary, const TextOptions& options);
// The three largest losses, a line each.
std::string RenderDoFirst(const Summary& summary, const TextOptions& options);
std::string RenderUtilization(const Summary& summary, const TextOptions& options);
std::string RenderEfficiency(const Summary& summary, const TextOptions& options);
std::string RenderMemory(const Summary& summary, const TextOptions& options);
std::string RenderCommunication(const Summary& summary, const TextOptions& options);
std::string RenderFindings(const Summary& summary, const TextOptions& options);
// Limits that were crossed.
std::string RenderAlerts(const Summary& summary, const TextOptions& options);
std::string RenderApplication(const Summary& summary, const TextOptions& options);
std::string RenderWaterfall(const Summary& summary, const TextOptions& options);
std::string RenderCapture(const Summary& summary, const TextOptions& options);
std::string RenderKernels(const Summary& summary, const TextOptions& options);
// The kernels with most time under their roof. Nothing where no kernel's FLOPs are known.
std::string RenderRoofline(const Summary& summary, const TextOptions& options);
std::string RenderCopies(const Summary& summary, const TextOptions& options);
std::string RenderIdle(const Summary& summary, const TextOptions& options);
std::string RenderMarkers(const Summary& summary, const TextOptions& options);
// Layers, lines or operations, as `group_by` says, and how much of the time has any.
std::string RenderOwners(const Summary& summary, const TextOptions& options);
std::string RenderCoverage(const OwnersSummary& owners, const TextOptions& options);
// A row for each GPU.
std::string RenderDevices(const Summary& summary, const TextOptions& options);
std::string RenderStreams(const Summary& summary, const TextOptions& options);
std::string RenderProcesses(const Summary& summary, const TextOptions& options);

// Who came last into collectives, and how the hosts' clocks were aligned; of a merged profile.
std::string RenderRanks(const Summary& summary, const TextOptions& options);
std::string RenderSteps(const Summary& summary, const TextOptions& options);

// A bar of `columns` for a share of 0…1.
std::string Bar(double share, size_t columns);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_TEXT_SECTIONS_H_
