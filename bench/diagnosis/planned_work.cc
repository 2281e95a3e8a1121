#include "bench/diagnosis/planned_work.h"

#include <algorithm>

namespace utlz {
namespace {

LaunchWork WorkOf(const PlannedCopy& copy) {
  LaunchWork work;
  const auto bytes = static_cast<double>(copy.bytes);
  if (copy.kind != COPY_HOST_TO_DEVICE) work.dram_read_bytes = bytes;
  if (copy.kind != COPY_DEVICE_TO_HOST) work.dram_write_bytes = bytes;
  return work;
}

}  // namespace

PlannedWork::PlannedWork(const PlannedRun& run, const PlannedRank& rank) {
  if (run.one_gpu) {
    for (const PlannedRank& each : run.ranks) Spread(run, each);
  } else {
    Spread(run, rank);
  }
  std::stable_sort(pieces_.begin(), pieces_.end(), [](const Piece& left, const Piece& right) {
    return left.start_ns < right.start_ns;
  });
  for (const Piece& piece : pieces_) {
    longest_ns_ = std::max(longest_ns_, piece.end_ns - piece.start_ns);
  }
}

void PlannedWork::Spread(const PlannedRun& run, const PlannedRank& rank) {
  for (const PlannedLaunch& launch : rank.launches) {
    const LaunchWork work = run.kernels[launch.kernel].work.Scaled(launch.work_share);
    pieces_.push_back({launch.start_ns, launch.start_ns + launch.duration_ns, ValuesOf(work)});
  }
  for (const PlannedCopy& copy : rank.copies) {
    pieces_.push_back({copy.start_ns, copy.start_ns + copy.duration_ns, ValuesOf(WorkOf(copy))});
  }
}

double PlannedWork::OverlapNs(uint64_t start_ns, uint64_t end_ns, const Piece& piece) {
  const uint64_t first = std::max(start_ns, piece.start_ns);
  const uint64_t last = std::min(end_ns, piece.end_ns);
  return last > first ? static_cast<double>(last - first) : 0;
}

MetricValues PlannedWork::Between(uint64_t start_ns, uint64_t end_ns, size_t* from) const {
  MetricValues sum{};
  while (*from < pieces_.size() && pieces_[*from].start_ns + longest_ns_ <= start_ns) ++*from;
  for (size_t i = *from; i < pieces_.size() && pieces_[i].start_ns < end_ns; ++i) {
    const double overlap_ns = OverlapNs(start_ns, end_ns, pieces_[i]);
    if (overlap_ns <= 0) continue;
    const double share = overlap_ns / static_cast<double>(pieces_[i].end_ns - pieces_[i].start_ns);
    for (size_t metric = 0; metric < sum.size(); ++metric) {
      sum[metric] += share * pieces_[i].values[metric];
    }
  }
  return sum;
}

double PlannedWork::BusyNs(uint64_t start_ns, uint64_t end_ns, size_t from) const {
  double busy_ns = 0;
  uint64_t busy_until_ns = start_ns;
  for (size_t i = from; i < pieces_.size() && pieces_[i].start_ns < end_ns; ++i) {
    busy_ns += OverlapNs(busy_until_ns, end_ns, pieces_[i]);
    busy_until_ns = std::max(busy_until_ns, std::min(end_ns, pieces_[i].end_ns));
  }
  return busy_ns;
}

}  // namespace utlz
