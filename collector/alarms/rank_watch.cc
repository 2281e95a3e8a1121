#include "collector/alarms/rank_watch.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collector/alarms/subject_name.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

constexpr double kShortestShare = 0.5;  // of a block, that must be known

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

Conditions RankWatch::Look(const Readings& readings) {
  if (readings.now_ns < block_begin_ns_ || readings.now_ns >= block_begin_ns_ + kBlockNs) {
    EndBlock(readings);
  }
  Conditions conditions;
  for (const auto& [key, rank] : ranks_) {
    if (rank.blocks < kBlocks) continue;
    std::string text = SubjectName(rank.at_begin) +
                       " keeps the others waiting in collectives for " + PercentText(rank.wait) +
                       " of the time";
    if (rank.more_compute >= kMostWait / 2) {
      text += ": its kernels take " + PercentText(rank.more_compute) + " more of it";
    } else {
      text += ", though its kernels take no longer: it launches late";
    }
    conditions.push_back({.kind = AlarmKind::kRankLags,
                          .since_ns = rank.since_ns,
                          .text = std::move(text),
                          .device_uuid = readings.devices.size() > rank.at_begin.device
                                             ? readings.devices[rank.at_begin.device].uuid
                                             : std::string(),
                          .pid = rank.at_begin.pid,
                          .rank = rank.at_begin.rank,
                          .value = rank.wait});
  }
  return conditions;
}

void RankWatch::EndBlock(const Readings& readings) {
  const bool whole = block_begin_ns_ != 0 && readings.now_ns > block_begin_ns_;
  std::map<std::pair<uint32_t, uint32_t>, Rank> ranks;
  for (const ProcessReading& process : readings.processes) {
    const auto found = ranks_.find({process.source, process.device});
    Rank rank = found == ranks_.end() ? Rank() : found->second;
    rank.known = false;
    if (whole && found != ranks_.end()) Measure(process, &rank);
    rank.at_begin = process;
    ranks[{process.source, process.device}] = std::move(rank);
  }
  ranks_ = std::move(ranks);
  Compare(block_begin_ns_);
  block_begin_ns_ = readings.now_ns;
}

void RankWatch::Measure(const ProcessReading& process, Rank* rank) {
  const ProcessReading& begin = rank->at_begin;
  if (process.known_ns <= begin.known_ns) return;
  const auto time_ns = static_cast<double>(process.known_ns - begin.known_ns);
  if (time_ns < kShortestShare * static_cast<double>(kBlockNs)) return;
  rank->compute = (process.compute_ns - begin.compute_ns) / time_ns;
  rank->communication = (process.communication_ns - begin.communication_ns) / time_ns;
  rank->known = true;
}

void RankWatch::Compare(uint64_t begin_ns) {
  for (auto& [key, rank] : ranks_) {
    std::vector<double> compute;
    std::vector<double> communication;
    for (const auto& [other_key, other] : ranks_) {
      if (other_key == key || !other.known) continue;
      compute.push_back(other.compute);
      communication.push_back(other.communication);
    }
    const bool comparable = rank.known && !compute.empty();
    rank.wait = comparable ? MedianOf(communication) - rank.communication : 0;
    rank.more_compute = comparable ? rank.compute - MedianOf(compute) : 0;
    if (rank.wait < kMostWait) {
      rank.blocks = 0;
      continue;
    }
    if (rank.blocks++ == 0) rank.since_ns = begin_ns;
  }
}

}  // namespace utlz
