// A run whose metrics grow evenly, on a clock that the test moves.
#ifndef UTLZ_TESTS_UNIT_HISTORY_MADE_UP_RUN_H_
#define UTLZ_TESTS_UNIT_HISTORY_MADE_UP_RUN_H_

#include <cstdint>
#include <string>

#include "collector/history/interval_recorder.h"
#include "collector/metrics/metrics_snapshot.h"
#include "collector/metrics/time_cause.h"
#include "tests/support/nanoseconds.h"

namespace utlz {

constexpr uint64_t kDayNs = 86400 * kSecondNs;
// 2026-01-01, in seconds since 1970.
constexpr uint64_t kNewYearNs = 1'767'225'600 * kSecondNs;

struct MadeUpClock {
  HistoryTime now{.realtime_ns = kNewYearNs, .monotonic_ns = 1000 * kSecondNs};

  void Pass(uint64_t time_ns) {
    now.realtime_ns += time_ns;
    now.monotonic_ns += time_ns;
  }
};

// What a run counted in `seconds` on `devices` devices at this HFU, half of the time idle.
inline MetricsSnapshot SnapshotAfter(double seconds, int devices, double hfu) {
  MetricsSnapshot snapshot;
  for (int i = 0; i < devices; ++i) {
    const Labels device = {{"UUID", "GPU-" + std::to_string(i)}, {"modelName", "NVIDIA H200"}};
    snapshot.Add(Metric::kKernelSeconds, device, seconds / 2);
    snapshot.Add(Metric::kFlopsPeakSeconds, device, seconds * hfu);
    snapshot.Add(Metric::kDramReadBytes, device, seconds * 1e12);
    snapshot.Add(Metric::kDramWriteBytes, device, seconds * 5e11);
    snapshot.Add(Metric::kEnergyJoules, device, seconds * 500);
    snapshot.Add(Metric::kSmActive, device, 0.4);
    for (const auto& [cause, share] :
         {std::pair(TimeCause::kUseful, hfu), std::pair(TimeCause::kMemoryBound, 0.5 - hfu),
          std::pair(TimeCause::kIdleLaunch, 0.5)}) {
      Labels labels = device;
      labels.emplace_back("cause", NameOf(cause));
      snapshot.Add(Metric::kGpuTimeSeconds, labels, seconds * share);
    }
  }
  snapshot.Add(Metric::kSteps, {}, seconds * 10);
  snapshot.Add(Metric::kLiveProcesses, {}, devices);
  return snapshot;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_HISTORY_MADE_UP_RUN_H_
