#include "bench/diagnosis/recording_windows.h"

#include <algorithm>

#include "proto/tracing_cost.h"

namespace utlz {
namespace {

// As agents before 2026-11-29 kept their account: spent ahead, left for windows, and what fills it.
// Those since spend half as much ahead, and have windows more densely after it.
constexpr double kCreditNs = 100e6;
constexpr double kReserveNs = 10e6;
constexpr double kFillingShare = 0.7 * 0.01;
// Of 1,750 samples; in recordings a window comes every 0.13 s until the sampler has spent what it
// may, then every second.
constexpr uint64_t kSampledNs = 1750 * kSampleIntervalNs;
constexpr uint64_t kFirstSampleNs = 90'000'000;
constexpr uint64_t kDensePaceNs = 130'000'000;
constexpr uint64_t kPaceNs = 1'000'000'000;
constexpr int kDenseWindows = 20;
// Tracing is on a little before counters are.
constexpr uint64_t kLeadNs = 2'000'000;

class Account {
 public:
  explicit Account(const PlannedRank& rank) : rank_(rank) {}

  double CostBetween(uint64_t start_ns, uint64_t end_ns) const {
    const auto before = [](const PlannedLaunch& launch, uint64_t time_ns) {
      return launch.start_ns < time_ns;
    };
    const auto& all = rank_.launches;
    const auto first = std::lower_bound(all.begin(), all.end(), start_ns, before);
    const auto last = std::lower_bound(first, all.end(), end_ns, before);
    const auto launches = static_cast<uint64_t>(last - first);
    const bool graphs = first != last && first->graph != 0;
    return static_cast<double>(graphs ? TracingCostNs(0, launches) : TracingCostNs(launches, 0));
  }

  // When the credit is used up, if it ever is.
  uint64_t EndOfCredit(uint64_t end_ns) const {
    constexpr uint64_t kSliceNs = 1'000'000;
    double account_ns = kCreditNs;
    for (uint64_t now = 0; now < end_ns; now += kSliceNs) {
      account_ns += kFillingShare * kSliceNs - CostBetween(now, now + kSliceNs);
      account_ns = std::min(account_ns, kCreditNs);
      if (account_ns < kReserveNs) return now + kSliceNs;
    }
    return end_ns;
  }

 private:
  const PlannedRank& rank_;
};

// Before a sampling window tracing goes on for as long as what came in since the last one pays.
RecordingWindow TracedFor(const Account& account, const RecordingWindow& sampled,
                          uint64_t after_ns) {
  RecordingWindow traced = {sampled.start_ns - kLeadNs, sampled.end_ns + kLeadNs};
  const double filled_ns = kFillingShare * static_cast<double>(sampled.start_ns - after_ns);
  while (traced.start_ns > after_ns + 10 * kLeadNs &&
         account.CostBetween(traced.start_ns - kLeadNs, traced.end_ns) < filled_ns) {
    traced.start_ns -= kLeadNs;
  }
  return traced;
}

}  // namespace

RecordingWindows WindowsOf(const PlannedRank& rank, uint64_t end_ns) {
  RecordingWindows windows;
  if (rank.launches.empty()) return windows;
  const Account account(rank);
  const uint64_t first_ns = rank.launches.front().start_ns;
  windows.traced.push_back({first_ns - kLeadNs, account.EndOfCredit(end_ns)});
  uint64_t next_ns = first_ns + kFirstSampleNs;
  for (int i = 0; next_ns + kSampledNs + 2 * kLeadNs < end_ns; ++i) {
    const RecordingWindow sampled = {next_ns, next_ns + kSampledNs};
    const bool dense = i < kDenseWindows && sampled.end_ns < windows.traced.front().end_ns;
    next_ns += dense ? kDensePaceNs : kPaceNs;
    if (sampled.end_ns > windows.traced.back().end_ns) {
      if (sampled.start_ns < windows.traced.back().end_ns + 10 * kLeadNs) continue;
      windows.traced.push_back(TracedFor(account, sampled, windows.traced.back().end_ns));
    }
    windows.sampled.push_back(sampled);
  }
  return windows;
}

RecordingWindows WholeRun(uint64_t end_ns) {
  const uint64_t samples = end_ns / kSampleIntervalNs + 1;
  return {.traced = {{0, samples * kSampleIntervalNs}},
          .sampled = {{0, samples * kSampleIntervalNs}}};
}

}  // namespace utlz
