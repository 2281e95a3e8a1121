// Sends snapshots to a collector of OTLP by HTTP, one every few seconds, on a thread of its own.
//
// What the collector does not take waits in a bounded queue; when that is full, the oldest is left
// out and counted. Thread safety: all calls from one thread.
#ifndef UTLZ_TOOLS_EXPORTER_OTLP_SENDER_H_
#define UTLZ_TOOLS_EXPORTER_OTLP_SENDER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/exporter/snapshot_board.h"

namespace utlz {

struct OtlpPace {
  std::chrono::milliseconds period{15'000};
  std::chrono::milliseconds patience{5'000};  // for one request
  size_t most_waiting = 40;                   // ten minutes
};

class OtlpSender {
 public:
  // Where `place` says: an address as ParseHttpUrl takes it, to which /v1/metrics is added where it
  // has no path, or "env": what OTEL_EXPORTER_OTLP_METRICS_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT
  // name. InvalidArgument: no such address; NotFound: they name none.
  static absl::StatusOr<std::string> EndpointOf(const std::string& place);

  // `board` must outlive it, and be closed before this ends. `say` prints a sentence.
  static absl::StatusOr<std::unique_ptr<OtlpSender>> Start(
      const std::string& endpoint, const SnapshotBoard* board, const OtlpPace& pace,
      std::function<void(const std::string& sentence)> say);
  // Sends what waits once more.
  virtual ~OtlpSender() = default;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_OTLP_SENDER_H_
