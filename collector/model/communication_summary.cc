#include "collector/model/communication_summary.h"

#include <cmath>
#include <map>
#include <string>

#include "collector/model/kernel_class.h"

namespace utlz {
namespace {

struct Sum {
  double launches = 0;
  double time_ns = 0;
  double exposed_ns = 0;
};

void SummarizeCollectives(const ModelState& model, const Analysis& analysis, Summary* summary) {
  std::map<std::string, Sum> by_collective;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = model.kernels[row.kernel];
    if (!kernel.communication) continue;
    Sum& sum = by_collective[std::string(CollectiveOf(kernel.mangled_name))];
    sum.launches += row.launches;
    sum.time_ns += row.time_ns;
    // Of the launches that were traced, all parts of a kernel together.
    const auto traced_ns = static_cast<double>(kernel.durations.sum_ns());
    if (traced_ns > 0) {
      sum.exposed_ns +=
          row.time_ns / traced_ns * model.devices[kernel.device].exposed.ExposedNs(row.kernel);
    }
  }
  for (const auto& [collective, sum] : by_collective) {
    CommunicationSummary* communication = summary->add_communication();
    communication->set_collective(collective);
    communication->set_launches(static_cast<uint64_t>(std::llround(sum.launches)));
    communication->set_time_ns(static_cast<uint64_t>(sum.time_ns));
    communication->set_exposed_ns(static_cast<uint64_t>(std::llround(sum.exposed_ns)));
    communication->set_size_note(
        "sizes are not known, so neither is the bus bandwidth: NCCL tells them in NVTX's extended "
        "payloads alone, which are not recorded");
  }
}

void SummarizeLateness(const ModelState& model, Summary* summary) {
  const std::map<uint32_t, Lateness> lateness = model.arrivals.Summarize();
  for (ProcessSummary& process : *summary->mutable_processes()) {
    const auto found = lateness.find(process.source_index());
    if (found == lateness.end()) continue;
    const Lateness& late = found->second;
    process.set_communication_time_ns(late.communication_ns);
    if (late.matched == 0) continue;
    process.set_collectives_matched(late.matched);
    process.set_collective_late_ns(late.late_ns);
    process.set_collective_last_share(late.last_share);
  }
}

}  // namespace

void SummarizeCommunication(const ModelState& model, const Analysis& analysis, Summary* summary) {
  SummarizeCollectives(model, analysis, summary);
  SummarizeLateness(model, summary);
}

}  // namespace utlz
