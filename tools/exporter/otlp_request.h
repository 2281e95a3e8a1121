// A snapshot as OTLP has it: an ExportMetricsServiceRequest, encoded.
//
// Metrics keep their names; counters are cumulative sums whose name ends without "_total". What
// OpenTelemetry's conventions for hardware name is sent under that name too: hw.gpu.utilization and
// hw.energy, with hw.id as DCGM's UUID. Pure, thread-safe.
#ifndef UTLZ_TOOLS_EXPORTER_OTLP_REQUEST_H_
#define UTLZ_TOOLS_EXPORTER_OTLP_REQUEST_H_

#include <cstdint>
#include <string>

#include "collector/metrics/metrics_snapshot.h"

namespace utlz {

struct OtlpTimes {
  uint64_t start_ns = 0;  // since when the sums grow
  uint64_t now_ns = 0;    // of the snapshot
};

// `dropped`: how many requests before were left out.
std::string WriteOtlpRequest(const MetricsSnapshot& snapshot, const OtlpTimes& times,
                             uint64_t dropped);

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_OTLP_REQUEST_H_
