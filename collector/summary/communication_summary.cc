#include "collector/summary/communication_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/kernel_names/kernel_class.h"

namespace utlz {
namespace {

// Of a collective, the sizes that took most time.
constexpr size_t kMaxSizes = 24;

struct Sum {
  double launches = 0;
  double time_ns = 0;
  double exposed_ns = 0;
  uint64_t timed_launches = 0;  // that were traced
};

double PerSecond(double bytes, double time_ns) { return bytes / time_ns * 1e9; }

void FillRates(const CollectiveTotals& totals, auto* message) {
  if (totals.time_ns > 0) {
    message->set_algorithm_bytes_per_second(PerSecond(totals.bytes, totals.time_ns));
  }
  if (totals.link_time_ns > 0) {
    message->set_bus_bytes_per_second(PerSecond(totals.link_bytes, totals.link_time_ns));
  }
}

void FillSize(const CollectiveGroup& group, const CollectiveTotals& totals,
              CollectiveSizeSummary* size) {
  const auto launches = static_cast<double>(totals.launches);
  if (group.ranks != 0) size->set_ranks(group.ranks);
  size->set_launches(totals.launches);
  size->set_bytes(totals.bytes / launches);
  size->set_time_ns(totals.time_ns / launches);
  FillRates(totals, size);
}

using GroupTotals = std::pair<const CollectiveGroup, CollectiveTotals>;

// Sums and sizes of one collective; returns how many launches have a size.
uint64_t FillSizes(const CollectiveSizes& sizes, CommunicationSummary* communication) {
  std::vector<const GroupTotals*> groups;
  CollectiveTotals all;
  for (const GroupTotals& group : sizes.groups()) {
    if (group.first.collective != communication->collective()) continue;
    groups.push_back(&group);
    all.launches += group.second.launches;
    all.time_ns += group.second.time_ns;
    all.bytes += group.second.bytes;
    all.link_bytes += group.second.link_bytes;
    all.link_time_ns += group.second.link_time_ns;
  }
  if (groups.empty()) return 0;
  communication->set_bytes(all.bytes);
  communication->set_sized_launches(all.launches);
  FillRates(all, communication);
  std::sort(groups.begin(), groups.end(), [](const GroupTotals* a, const GroupTotals* b) {
    return a->second.time_ns > b->second.time_ns;
  });
  if (groups.size() > kMaxSizes) groups.resize(kMaxSizes);
  for (const GroupTotals* group : groups) {
    FillSize(group->first, group->second, communication->add_sizes());
  }
  return all.launches;
}

// Whether ranges of NVTX were recorded of any process.
bool RecordedMarkers(const RunState& state) {
  return std::any_of(state.processes.processes().begin(), state.processes.processes().end(),
                     [](const auto& process) { return process.second->coverage.markers(); });
}

std::string SizeNote(const RunState& state, const Sum& sum, uint64_t sized) {
  if (sized >= sum.timed_launches) return "";
  if (sized > 0) {
    return "sizes, and the bandwidth, are of " + std::to_string(sized) + " of " +
           std::to_string(sum.timed_launches) +
           " traced launches: of the others NCCL reported nothing, or not on the thread that "
           "launched "
           "them (CUDA graphs report it once, when they are captured)";
  }
  if (!state.collective_sizes.known()) {
    return RecordedMarkers(state) ? "sizes are not known: the library did not report them through "
                                    "NVTX (NCCL does since "
                                    "2.18, unless NCCL_NVTX_DISABLE is set)"
                                  : "sizes are not known, so neither is the bandwidth: NCCL "
                                    "reports them through NVTX; "
                                    "record with --nvtx";
  }
  if (state.collective_sizes.launches_without_ranks() > 0) {
    return "sizes are not known: NCCL reported those of one rank, and not how many ranks there are";
  }
  return "sizes are not known: no call of NCCL's that reports one launched these kernels itself "
         "(CUDA graphs report it once, when they are captured)";
}

void SummarizeCollectives(const RunState& state, const Analysis& analysis, Summary* summary) {
  std::map<std::string, Sum> by_collective;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    if (!kernel.communication) continue;
    Sum& sum = by_collective[std::string(CollectiveOf(kernel.mangled_name))];
    sum.launches += row.launches;
    sum.time_ns += row.time_ns;
    sum.timed_launches += row.durations.count();
    // Of the launches that were traced, all parts of a kernel together.
    const auto traced_ns = static_cast<double>(kernel.durations.sum_ns());
    if (traced_ns > 0) {
      sum.exposed_ns +=
          row.time_ns / traced_ns * state.devices[kernel.device].exposed.ExposedNs(row.kernel);
    }
  }
  for (const auto& [collective, sum] : by_collective) {
    CommunicationSummary* communication = summary->add_communication();
    communication->set_collective(collective);
    communication->set_launches(static_cast<uint64_t>(std::llround(sum.launches)));
    communication->set_time_ns(static_cast<uint64_t>(sum.time_ns));
    communication->set_exposed_ns(static_cast<uint64_t>(std::llround(sum.exposed_ns)));
    const uint64_t sized = FillSizes(state.collective_sizes, communication);
    if (std::string note = SizeNote(state, sum, sized); !note.empty()) {
      communication->set_size_note(std::move(note));
    }
  }
}

void SummarizeSkew(const RunState& state, Summary* summary) {
  const std::map<uint32_t, ProcessSkew> skew = state.arrivals.Summarize();
  for (ProcessSummary& process : *summary->mutable_processes()) {
    const auto found = skew.find(process.source_index());
    if (found == skew.end()) continue;
    const ProcessSkew& late = found->second;
    process.set_communication_time_ns(late.communication_ns);
    if (late.matched == 0) continue;
    process.set_collectives_matched(late.matched);
    process.set_collective_late_ns(late.late_ns);
    process.set_collective_last_share(late.last_share);
  }
}

}  // namespace

void SummarizeCommunication(const RunState& state, const Analysis& analysis, Summary* summary) {
  SummarizeCollectives(state, analysis, summary);
  SummarizeSkew(state, summary);
}

}  // namespace utlz
