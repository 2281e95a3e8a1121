#include "bench/diagnosis/busy_time.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace utlz {
namespace {

using Stretches = std::vector<std::pair<uint64_t, uint64_t>>;

void AddStretches(const PlannedRank& rank, Stretches* stretches) {
  for (const PlannedLaunch& launch : rank.launches) {
    stretches->emplace_back(launch.start_ns, launch.start_ns + launch.duration_ns);
  }
  for (const PlannedCopy& copy : rank.copies) {
    stretches->emplace_back(copy.start_ns, copy.start_ns + copy.duration_ns);
  }
}

double CoveredNs(Stretches stretches, uint64_t start_ns) {
  std::sort(stretches.begin(), stretches.end());
  double covered_ns = 0;
  for (const auto& [first_ns, last_ns] : stretches) {
    const uint64_t from_ns = std::max(first_ns, start_ns);
    if (last_ns <= from_ns) continue;
    covered_ns += static_cast<double>(last_ns - from_ns);
    start_ns = last_ns;
  }
  return covered_ns;
}

}  // namespace

double BusyShare(const PlannedRun& run) {
  const auto whole_ns = static_cast<double>(run.end_ns - run.steps_start_ns);
  Stretches shared;
  double busy_ns = 0;
  for (const PlannedRank& rank : run.ranks) {
    Stretches own;
    AddStretches(rank, run.one_gpu ? &shared : &own);
    busy_ns += CoveredNs(std::move(own), run.steps_start_ns);
  }
  if (run.one_gpu) return CoveredNs(std::move(shared), run.steps_start_ns) / whole_ns;
  return busy_ns / whole_ns / static_cast<double>(run.ranks.size());
}

}  // namespace utlz
