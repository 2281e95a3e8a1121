// Shows the metrics of a run to others while it goes on: by HTTP, in a file, to a collector of
// OTLP; and says its alarms.
//
// Publish() and Report() hand something over and return at once: no client, disk, terminal or lock
// of theirs keeps the collector waiting. Thread safety: Publish() from any one thread at a time,
// Report() from any, the rest from one thread.
#ifndef UTLZ_TOOLS_EXPORTER_EXPORTER_H_
#define UTLZ_TOOLS_EXPORTER_EXPORTER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/metrics/metrics_snapshot.h"
#include "tools/exporter/metrics_file.h"
#include "tools/exporter/metrics_server.h"
#include "tools/exporter/otlp_sender.h"
#include "tools/exporter/snapshot_board.h"
#include "tools/exporter/speaker.h"

namespace utlz {

struct ExporterOptions {
  std::string place = {};  // as ListeningSocket::Open takes it; empty: no server
  std::string file = {};   // as WriteMetricsFile takes it; empty: none
  std::string otlp = {};   // as OtlpSender::EndpointOf takes it; empty: nothing is sent
  bool alarms = false;     // they are said although nobody is shown metrics

  bool wanted() const { return !place.empty() || !file.empty() || !otlp.empty() || alarms; }
};

class Exporter {
 public:
  // Listens, and can write, once it returns. `say` prints a sentence, from any thread. Errors as
  // ListeningSocket::Open and WriteMetricsFile say.
  static absl::StatusOr<std::unique_ptr<Exporter>> Start(
      const ExporterOptions& options, const std::function<void(const std::string& sentence)>& say);
  // Leaves a file of what only grows: what was true of a moment is true no more.
  ~Exporter();

  void Publish(MetricsSnapshot snapshot);
  // Says the sentence.
  void Report(std::string sentence) { speaker_.Report(std::move(sentence)); }

 private:
  explicit Exporter(std::function<void(const std::string& sentence)> say)
      : speaker_(std::move(say)) {}

  Speaker speaker_;
  SnapshotBoard board_;
  std::unique_ptr<MetricsServer> server_;
  std::unique_ptr<MetricsFile> file_;
  std::unique_ptr<OtlpSender> otlp_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_EXPORTER_H_
