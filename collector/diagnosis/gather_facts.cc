#include "collector/diagnosis/gather_facts.h"

#include <algorithm>
#include <vector>

#include "collector/analysis/agent_cost.h"
#include "collector/diagnosis/communication_facts.h"
#include "collector/diagnosis/gap_facts.h"
#include "collector/diagnosis/kernel_facts.h"
#include "collector/summary/device_summary.h"
#include "collector/summary/steady_state_summary.h"

namespace utlz {
namespace {

void AddThrottling(const DeviceSummary& device, FindingFacts* facts) {
  const bool heat = std::any_of(
      device.clock_limits().begin(), device.clock_limits().end(),
      [](const std::string& limit) { return limit.find("thermal") != std::string::npos; });
  if (!heat || device.sm_clock_maximum_hz() <= 0) return;
  const double clock_share = std::min(1.0, device.sm_clock_hz() / device.sm_clock_maximum_hz());
  facts->throttled_ns += static_cast<double>(device.kernel_time_ns()) * (1 - clock_share);
}

// Nothing where it was measured: then gaps are already without it.
void AddTracing(const RunState& state, const Analysis& analysis, FindingFacts* facts) {
  double kernel_share = 0;
  for (const DeviceAnalysis& device : analysis.devices) {
    if (device.part.slowdown_ns > 0) return;
    kernel_share = std::max(kernel_share, device.part.kernel_share);
  }
  facts->traced_launch_ns = TracedLaunchCostNs(state);
  facts->traced_graphs_ns = kernel_share * TracedGraphsCostNs(state);
}

// Copies to the host are waited for where the GPU stands idle after so many of them.
constexpr double kMostWaitedFor = 0.5;

// Of the time of copies between host and device whose host side is pageable or not, the share of
// those to the host.
double ShareToHost(const CopyStatistics& copies, bool pageable) {
  const auto time_of = [&copies, pageable](CopyKind kind) {
    const auto found = copies.counts().find({kind, pageable});
    return found == copies.counts().end() ? 0.0 : static_cast<double>(found->second.time_ns);
  };
  const double to_host_ns = time_of(COPY_DEVICE_TO_HOST);
  return to_host_ns > 0 ? to_host_ns / (to_host_ns + time_of(COPY_HOST_TO_DEVICE)) : 0;
}

double CopiesToHost(const CopyStatistics& copies) {
  double count = 0;
  for (const auto& [kind, of_kind] : copies.counts()) {
    if (kind.first == COPY_DEVICE_TO_HOST) count += static_cast<double>(of_kind.copies);
  }
  return count;
}

void AddReadBack(const DeviceState& device, const StretchContent& content, CopyFacts* copies) {
  const double waits = content.Gaps(TimeCategory::kReadbackGap);
  if (waits < std::max(1.0, kMostWaitedFor * CopiesToHost(device.copies))) return;
  copies->pageable_read_back_ns +=
      ShareToHost(device.copies, true) * content.TimeNs(TimeCategory::kPageableCopy);
  copies->pinned_read_back_ns +=
      ShareToHost(device.copies, false) * content.TimeNs(TimeCategory::kPinnedCopy);
}

void AddContent(const RunState& state, const Analysis& analysis, FindingFacts* facts) {
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    const StretchContent& content = analysis.devices[i].part.content;
    facts->copies.pageable_exposed_ns += content.TimeNs(TimeCategory::kPageableCopy);
    facts->copies.pinned_exposed_ns += content.TimeNs(TimeCategory::kPinnedCopy);
    AddReadBack(state.devices[i], content, &facts->copies);
  }
}

// By index into Summary.devices: its kernels without exposed communication, as a share of the
// steady part; 0 where that is not known.
std::vector<double> ComputeShares(const RunState& state, const Analysis& analysis,
                                  const Summary& summary) {
  std::vector<double> shares(static_cast<size_t>(summary.devices_size()));
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const auto listed = IndexInSummary(state, i, summary);
    if (!listed.has_value()) continue;
    const auto window_ns = static_cast<double>(summary.devices(*listed).steady_state_ns());
    if (window_ns <= 0) continue;
    const StretchContent& content = analysis.devices[i].part.content;
    const double computes_ns = content.KernelNs() - content.TimeNs(TimeCategory::kCommunication);
    shares[static_cast<size_t>(*listed)] = computes_ns / window_ns;
  }
  return shares;
}

// Of the time of copies and sets on a device or between two, the share of those between two.
double ShareToPeers(const CopyStatistics& copies) {
  double peers_ns = 0;
  double all_ns = 0;
  for (const auto& [kind, of_kind] : copies.counts()) {
    if (kind.first == COPY_HOST_TO_DEVICE || kind.first == COPY_DEVICE_TO_HOST) continue;
    all_ns += static_cast<double>(of_kind.time_ns);
    if (kind.first == COPY_PEER_TO_PEER) peers_ns += static_cast<double>(of_kind.time_ns);
  }
  return all_ns > 0 ? peers_ns / all_ns : 0;
}

bool ProcessHoldsSeveralDevices(const RunState& state) {
  const auto& processes = state.processes.processes();
  return std::any_of(processes.begin(), processes.end(),
                     [](const auto& process) { return process.second->DevicesHeld().size() > 1; });
}

// One device copies, and the others of its process stand idle meanwhile, as far as they do so in
// gaps that nothing else explains: these are no gaps of the host's.
void AddPeerCopies(const RunState& state, const Analysis& analysis, FindingFacts* facts) {
  std::vector<double> peers_ns(state.devices.size());
  CopyFacts& copies = facts->copies;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    peers_ns[i] = ShareToPeers(state.devices[i].copies) *
                  analysis.devices[i].part.content.TimeNs(TimeCategory::kOtherCopy);
    copies.peer_exposed_ns += peers_ns[i];
  }
  if (copies.peer_exposed_ns <= 0 || !ProcessHoldsSeveralDevices(state)) return;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    const double idle_ns = analysis.devices[i].part.content.TimeNs(TimeCategory::kOtherGap);
    copies.peer_waited_ns += std::min(idle_ns, copies.peer_exposed_ns - peers_ns[i]);
  }
  double left_ns = copies.peer_waited_ns;
  for (double* gaps_ns : {&facts->gaps.between_steps_ns, &facts->gaps.inside_ns}) {
    const double taken_ns = std::min(*gaps_ns, left_ns);
    *gaps_ns -= taken_ns;
    left_ns -= taken_ns;
  }
}

void AddDevices(const Summary& summary, FindingFacts* facts) {
  for (const DeviceSummary& device : summary.devices()) {
    const auto window_ns = static_cast<double>(device.steady_state_ns());
    facts->window_ns += window_ns;
    facts->busy_share += device.gpu_busy_share() * window_ns;
    facts->sm_active_share += device.sm_active_share() * window_ns;
    facts->counters = facts->counters || (device.source() >= SOURCE_SAMPLED && device.has_hfu());
    AddThrottling(device, facts);
  }
  if (facts->window_ns <= 0) return;
  facts->busy_share /= facts->window_ns;
  facts->sm_active_share /= facts->window_ns;
}

}  // namespace

FindingFacts GatherFacts(const RunState& state, const Analysis& analysis, const Summary& summary) {
  FindingFacts facts;
  facts.summary = &summary;
  facts.step_ns = MeanStepNs(summary);
  facts.gaps = GatherGaps(state, analysis, facts.step_ns);
  facts.communication = GatherCommunication(state, analysis, summary);
  facts.kernels = GatherKernels(state, analysis, summary);
  AddContent(state, analysis, &facts);
  AddPeerCopies(state, analysis, &facts);
  AddDevices(summary, &facts);
  facts.compute_shares = ComputeShares(state, analysis, summary);
  AddTracing(state, analysis, &facts);
  return facts;
}

}  // namespace utlz
