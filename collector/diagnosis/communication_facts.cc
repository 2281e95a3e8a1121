#include "collector/diagnosis/communication_facts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace utlz {
namespace {

// A process that is the last this often is not so by chance.
constexpr double kLaggingShare = 0.6;
constexpr uint64_t kFewestCollectives = 10;
// Batches are uneven if more than this share of exposed communication is spent waiting.
constexpr double kMostlyWaiting = 0.5;

// A rank that comes last; started anew by its launcher it is the same one.
struct Laggard {
  double lost_ns = 0;
  double delay_ns = 0;
  double last = 0;  // collectives
  double matched = 0;
  std::vector<uint64_t> pids = {};
};

std::string NameOf(const RunState& state, uint32_t source) {
  const auto found = state.processes.processes().find(source);
  if (found == state.processes.processes().end()) return "";
  const Process& info = found->second->info;
  return info.has_rank() ? "rank " + std::to_string(info.rank())
                         : "process " + std::to_string(info.pid());
}

// Where not all processes of this rank lag, as of jobs side by side, its process too.
std::string NameOf(const std::string& rank, const Laggard& laggard, size_t processes) {
  if (laggard.pids.size() == processes || laggard.pids.size() > 1) return rank;
  return rank + " (process " + std::to_string(laggard.pids[0]) + ")";
}

// How many devices the processes of each group have used.
std::map<uint32_t, double> DevicesByGroup(const std::map<uint32_t, ProcessSkew>& skews,
                                          const Summary& summary) {
  std::map<uint32_t, std::set<std::string_view>> devices;
  for (const ProcessSummary& process : summary.processes()) {
    const auto skew = skews.find(process.source_index());
    if (skew == skews.end() || skew->second.matched == 0) continue;
    devices[skew->second.group].insert(process.devices().begin(), process.devices().end());
  }
  std::map<uint32_t, double> counts;
  for (const auto& [group, uuids] : devices) counts[group] = static_cast<double>(uuids.size());
  return counts;
}

void SetLagging(const std::string& name, const Laggard& laggard, CommunicationFacts* facts) {
  facts->lagging_process = name;
  facts->lagging_last_share = laggard.last / laggard.matched;
  facts->lagging_delay_ns = laggard.delay_ns / laggard.last;
  facts->lagging_lost_ns = laggard.lost_ns;
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
  const std::map<uint32_t, ProcessSkew> skews = state.arrivals.Summarize();
  std::map<uint32_t, double> devices = DevicesByGroup(skews, summary);
  std::map<std::string, Laggard> laggards;
  std::map<std::string, size_t> processes;  // that communicate
  double waits_ns = 0;
  for (const auto& [source, late] : skews) {
    if (late.matched < kFewestCollectives) continue;
    const double together = devices[late.group];
    waits_ns += late.delay_ns * std::max(0.0, together - 1);
    const std::string name = NameOf(state, source);
    ++processes[name];
    if (late.last_share < kLaggingShare || name.empty()) continue;
    Laggard& laggard = laggards[name];
    const auto matched = static_cast<double>(late.matched);
    // Every other device waits as long.
    laggard.lost_ns += NotHidden(late.delay_ns * together, facts.exposed_ns, together);
    laggard.delay_ns += late.delay_ns;
    laggard.last += late.last_share * matched;
    laggard.matched += matched;
    laggard.pids.push_back(state.processes.processes().at(source)->info.pid());
  }
  for (const auto& [name, laggard] : laggards) {
    if (laggard.lost_ns < facts.lagging_lost_ns) continue;
    SetLagging(NameOf(name, laggard, processes[name]), laggard, &facts);
  }
  if (!facts.lagging_process.empty()) return facts;
  waits_ns = std::min(waits_ns, facts.exposed_ns);
  if (waits_ns > kMostlyWaiting * facts.exposed_ns) facts.uneven_ns = waits_ns;
  return facts;
}

}  // namespace utlz
