// A small HTTP server for one page, /metrics, on a thread of its own. One connection, one request.
//
// Trust: anybody who reaches it may send anything, slowly, or nothing, and read slowly or not at
// all. Connections are at most kMostConnections, each of at most kMaxRequestBytes read and
// kPatience long; more wait in the kernel's queue. While all are taken, the oldest one gives way
// once it has had kFairShare. Pages are shared by those who read them.
//
// Thread safety: all calls from one thread.
#ifndef UTLZ_TOOLS_EXPORTER_METRICS_SERVER_H_
#define UTLZ_TOOLS_EXPORTER_METRICS_SERVER_H_

#include <chrono>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "tools/exporter/listening_socket.h"
#include "tools/exporter/snapshot_board.h"

namespace utlz {

class MetricsServer {
 public:
  static constexpr size_t kMostConnections = 64;
  static constexpr std::chrono::milliseconds kPatience{10'000};
  static constexpr std::chrono::milliseconds kFairShare{1'000};

  // `board` must outlive the server.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(ListeningSocket socket,
                                                              const SnapshotBoard* board);
  virtual ~MetricsServer() = default;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_METRICS_SERVER_H_
