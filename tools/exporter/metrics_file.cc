#include "tools/exporter/metrics_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/files/output_file.h"
#include "collector/quiet_thread.h"
#include "tools/exporter/exposition.h"

namespace utlz {
namespace {

constexpr mode_t kMode = 0644;

absl::Status CheckPlace(const std::string& path) {
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path, " is no regular file: metrics are written to a file alone, and through no link"));
}

bool WriteAll(int fd, const std::string& text) {
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = write(fd, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<size_t>(count);
  }
  return true;
}

class RunningFile : public MetricsFile {
 public:
  RunningFile(std::string path, const SnapshotBoard* board,
              std::function<void(const std::string&)> say)
      : path_(std::move(path)), board_(board), say_(std::move(say)) {
    thread_ = StartQuietThread("utlz-file", [this] { Run(); });
  }

  ~RunningFile() override { thread_.join(); }

 private:
  void Run() {
    SharedSnapshot written;
    while (const SharedSnapshot next = board_->WaitForOther(written)) {
      Report(WriteMetricsFile(path_, *next));
      written = next;
    }
  }

  void Report(const absl::Status& status) {
    if (!status.ok() && !failed_) {
      say_(absl::StrCat(std::string(status.message()), "; it is tried again with each snapshot"));
    }
    failed_ = !status.ok();
  }

  const std::string path_;
  const SnapshotBoard* board_;
  const std::function<void(const std::string&)> say_;
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace

absl::Status WriteMetricsFile(const std::string& path, const MetricsSnapshot& snapshot) {
  if (absl::Status status = CheckPlace(path); !status.ok()) return status;
  absl::StatusOr<OutputFile> file = OutputFile::Create(path, {.what = "metrics file"});
  if (!file.ok()) return file.status();
  if (!WriteAll(file->fd(), WritePage(snapshot, PageFormat::kText)) ||
      fchmod(file->fd(), kMode) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write the metrics file ", path));
  }
  return file->Publish();
}

absl::StatusOr<std::unique_ptr<MetricsFile>> MetricsFile::Start(
    const std::string& path, const SnapshotBoard* board,
    std::function<void(const std::string& sentence)> say) {
  if (absl::Status status = WriteMetricsFile(path, MetricsSnapshot()); !status.ok()) return status;
  return std::unique_ptr<MetricsFile>(std::make_unique<RunningFile>(path, board, std::move(say)));
}

}  // namespace utlz
