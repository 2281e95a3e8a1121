// Keeps a file of metrics for node_exporter's textfile collector: each snapshot replaces the file
// as a whole. A thread of its own, so that a slow disk keeps nobody waiting.
//
// The file is mode 0644 and made as every output is (collector/files/output_file.h). What is at the
// path must be a regular file or nothing: no link, no pipe. Thread safety: all calls from one
// thread.
#ifndef UTLZ_TOOLS_EXPORTER_METRICS_FILE_H_
#define UTLZ_TOOLS_EXPORTER_METRICS_FILE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/exporter/snapshot_board.h"

namespace utlz {

// Writes one page. FailedPrecondition: what is there is no regular file. Others as OutputFile says.
absl::Status WriteMetricsFile(const std::string& path, const MetricsSnapshot& snapshot);

class MetricsFile {
 public:
  // Fails where the file cannot be made now. `say` is called, from the thread, with a sentence for
  // the first time that a write fails. `board` must outlive this, and be closed before its end.
  static absl::StatusOr<std::unique_ptr<MetricsFile>> Start(
      const std::string& path, const SnapshotBoard* board,
      std::function<void(const std::string& sentence)> say);
  virtual ~MetricsFile() = default;  // waits until the last snapshot is written
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_METRICS_FILE_H_
