// A collector whose agents and sampler are a recorded run: its frames come when they came then, or
// later where the machine is too slow to study them as fast.
//
//   replayed_collector PROFILE FOLDER OTLP
//
// All that follows the frames is a collector's own: the model, metrics, alarms, the socket of `utlz
// top`, the exporter, the history (in FOLDER/history). It sends OTLP to the address OTLP, says
// where the metrics are, what the exporter and alarms say, and "ended" at the end of the recording;
// then it serves its last page until standard input ends.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "collector/clocks.h"
#include "collector/files/runtime_folder.h"
#include "collector/history/history_log.h"
#include "collector/history/run_history.h"
#include "collector/profile/profile_reader.h"
#include "collector/session/live_source.h"
#include "collector/session/metrics_source.h"
#include "collector/session/run_recorder.h"
#include "tools/exporter/exporter.h"

namespace utlz {
namespace {

constexpr int kTurnMs = 100;
constexpr std::chrono::milliseconds kLongestCatchUp(20);
constexpr uint64_t kMostOfTurnNs = 250'000'000;
constexpr uint64_t kHistoryBytes = 16 << 20;

void Say(const std::string& sentence) {
  std::printf("%s\n", sentence.c_str());
  std::fflush(stdout);
}

// Waits so long at most. False where nobody wants more.
bool Wait(int milliseconds) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, milliseconds) == 0;
}

// The run's frames, as time passes.
class Recording {
 public:
  explicit Recording(ProfileReader reader) : reader_(std::move(reader)) {}

  // False at the end. While the recorder studies, how far it has come is not known: then nothing
  // comes, and the run's time stands still. Nor does it jump on a machine that is busy otherwise:
  // steps of which all frames come at once would not be of the last seconds any more.
  bool Feed(RunRecorder* recorder, uint64_t now_ns) {
    if (fed_ns_ != 0 && !recorder->behind())
      elapsed_ns_ += std::min(now_ns - fed_ns_, kMostOfTurnNs);
    fed_ns_ = now_ns;
    while (begin_ns_ == 0 ||
           (!recorder->behind() && recorder->state().NewestNs() < begin_ns_ + elapsed_ns_)) {
      FrameView frame;
      if (!reader_.Next(&frame)) return false;
      if (frame.type == FRAME_SUMMARY) continue;
      recorder->Record(frame.source, frame.type, frame.payload);
      if (begin_ns_ == 0) begin_ns_ = recorder->state().NewestNs();
    }
    return true;
  }

 private:
  ProfileReader reader_;
  uint64_t begin_ns_ = 0;
  uint64_t fed_ns_ = 0;
  uint64_t elapsed_ns_ = 0;  // of the run
};

int Fail(const absl::Status& status) {
  Say(std::string(status.message()));
  return 1;
}

int Main(const std::string& profile, const std::string& folder, const std::string& otlp) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(profile);
  if (!reader.ok()) return Fail(reader.status());
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(folder + "/replayed.utlz");
  if (!writer.ok()) return Fail(writer.status());
  const absl::StatusOr<std::string> runtime_folder = RuntimeFolder();
  if (!runtime_folder.ok()) return Fail(runtime_folder.status());
  auto log = HistoryLog::Open(folder + "/history", kHistoryBytes, Say);
  if (!log.ok()) return Fail(log.status());
  auto exporter = Exporter::Start({.place = "127.0.0.1:0", .otlp = otlp}, Say);
  if (!exporter.ok()) return Fail(exporter.status());
  RunHistory history(NameRun({"replayed"}, folder + "/replayed.utlz"),
                     [&](HistoryInterval interval) { (*log)->Add(std::move(interval)); });
  SessionOptions options;
  options.publish_metrics = [&](MetricsSnapshot snapshot) {
    history.Publish(snapshot);
    (*exporter)->Publish(std::move(snapshot));
  };
  options.report_alarm = [](const Alarm& alarm) { Say("alarm: " + alarm.name()); };
  RunRecorder recorder(*std::move(writer));
  MetricsSource metrics(options);
  LiveSource live(*runtime_folder);
  Recording recording(*std::move(reader));
  while (recording.Feed(&recorder, MonotonicNs())) {
    const uint64_t now_ns = MonotonicNs();
    recorder.CatchUp(kLongestCatchUp);
    if (metrics.Due(now_ns)) {
      for (const Alarm& alarm : metrics.Publish(&recorder, now_ns, ThreadCpuNs())) {
        options.report_alarm(alarm);
      }
    }
    live.Serve(&recorder, now_ns);
    if (!Wait(kTurnMs)) {
      recorder.CatchUpWithAll();  // a study is of `metrics` or `live`
      return 0;
    }
  }
  recorder.CatchUpWithAll();
  metrics.PublishLast(&recorder, ThreadCpuNs());
  history.End();
  log->reset();
  Say("ended");
  while (Wait(-1)) {
  }
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: replayed_collector PROFILE FOLDER OTLP\n");
    return 2;
  }
  return utlz::Main(words[1], words[2], words[3]);
}
