#include "collector/diagnosis/communication_facts.h"

#include <algorithm>

namespace utlz {
namespace {

// A process that is the last this often is not so by chance.
constexpr double kLaggingShare = 0.6;
constexpr uint64_t kFewestCollectives = 10;
// Batches are uneven if more than this share of exposed communication is spent waiting.
constexpr double kMostlyWaiting = 0.5;

void SetLagging(const RunState& state, uint32_t source, const ProcessSkew& late,
                CommunicationFacts* facts) {
  const auto found = state.processes.processes().find(source);
  if (found == state.processes.processes().end()) return;
  const Process& info = found->second->info;
  facts->lagging_process = info.has_rank() ? "rank " + std::to_string(info.rank())
                                           : "process " + std::to_string(info.pid());
  facts->lagging_last_share = late.last_share;
  facts->lagging_delay_ns = late.delay_ns / (late.last_share * static_cast<double>(late.matched));
}

// The part of the waits that costs time: no more than communication that no kernel hides. A process
// that is late delays its own device as well, which no wait shows: hence `with_its_own`.
double NotHidden(double waits_ns, double exposed_ns, double devices) {
  const double with_its_own = devices > 1 ? devices / (devices - 1) : 1;
  return exposed_ns > 0 ? std::min(waits_ns, with_its_own * exposed_ns) : 0;
}

}  // namespace

CommunicationFacts GatherCommunication(const RunState& state, const Analysis& analysis,
                                       const Summary& summary) {
  CommunicationFacts facts;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    facts.exposed_ns += analysis.devices[i].part.content.TimeNs(TimeCategory::kCommunication);
  }
  const auto devices = static_cast<double>(summary.devices_size());
  double delays_ns = 0;
  for (const auto& [source, late] : state.arrivals.Summarize()) {
    if (late.matched < kFewestCollectives) continue;
    delays_ns += late.delay_ns;
    if (late.last_share < kLaggingShare) continue;
    SetLagging(state, source, late, &facts);
    // Every other device waits as long.
    facts.lagging_lost_ns = NotHidden(late.delay_ns * devices, facts.exposed_ns, devices);
  }
  if (!facts.lagging_process.empty()) return facts;
  const double waits_ns = std::min(delays_ns * (devices - 1), facts.exposed_ns);
  if (waits_ns > kMostlyWaiting * facts.exposed_ns) facts.uneven_ns = waits_ns;
  return facts;
}

}  // namespace utlz
