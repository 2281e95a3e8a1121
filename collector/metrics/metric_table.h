// Every metric that utlz exports: name, type, labels and what it says. The one list that the
// exporter writes, the guide shows and the dashboard may use.
//
// Names follow Prometheus: base units, `_total` on counters. Thread safety: constants only.
#ifndef UTLZ_COLLECTOR_METRICS_METRIC_TABLE_H_
#define UTLZ_COLLECTOR_METRICS_METRIC_TABLE_H_

#include <cstddef>
#include <cstdint>

namespace utlz {

enum class MetricType : uint8_t { kCounter, kGauge };

// In the order in which a page lists them.
enum class Metric : uint8_t {
  kFlops,
  kFlopsPeakSeconds,
  kDramReadBytes,
  kDramWriteBytes,
  kKernelSeconds,
  kKernelLaunches,
  kEstimatedSavingsSeconds,
  kFlopsUncountedSeconds,
  kDramUncountedSeconds,
  kGpuTimeSeconds,
  kEnergyJoules,
  kHfu,
  kComputeSpeedOfLight,
  kMemorySpeedOfLight,
  kSmActive,
  kGpuBusy,
  kNvmlBusy,
  kTemperature,
  kMemoryUsed,
  kMemorySize,
  kClockLimited,
  kSteps,
  kStepSeconds,
  kTokens,
  kItems,
  kModelFlops,
  kMfu,
  kProcessStepSeconds,
  kProcessHfu,
  kProcessMfu,
  kOperations,
  kTracedRatio,
  kAgentCostSeconds,
  kLaunchesDropped,
  kLaunchesUntimed,
  kRecordsLost,
  kCounterSamples,
  kCounterSamplesLost,
  kAppRequests,
  kAppTokens,
  kAppEstimatedFlops,
  kAppRequestRate,
  kAppTokenRate,
  kAppTokensPerJoule,
  kAppJoulesPerToken,
  kAppCostPerToken,
  kAppTokensPerRoof,
  kAppWaiting,
  kAppRunning,
  kAppFirstToken,
  kAppTimestamp,
  kAlarm,
  kAlarms,
  kFramesRefused,
  kCollectorCpuSeconds,
  kAttributionCpuSeconds,
  kSnapshotCpuSeconds,
  kSnapshotTimestamp,
  kLiveProcesses,
  kBuildInfo,
};
inline constexpr size_t kMetrics = static_cast<size_t>(Metric::kBuildInfo) + 1;

struct MetricDescription {
  const char* name;  // as on a page of text format 0.0.4
  MetricType type;
  const char* unit;    // of OpenMetrics, the end of the name; empty: none
  const char* labels;  // beside Hostname, for people
  const char* help;    // one line, no backslash
};

const MetricDescription& DescriptionOf(Metric metric);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_METRIC_TABLE_H_
