// For how long the analysis of a run keeps a collector's thread from its rings:
//
//   hold_ups PROFILE SCRATCH_FILE
//
// Takes a recorded run in, in real time, as a collector does that a `utlz top` asks: once with
// studies on the recorder's thread, once on a thread of their own. Prints the longest times that
// each took at a stretch.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/clocks.h"
#include "collector/live/live_report.h"
#include "collector/metrics/snapshot_pace.h"
#include "collector/profile/profile_reader.h"
#include "collector/profile/profile_writer.h"
#include "collector/run/run_intake.h"
#include "collector/session/run_recorder.h"

namespace utlz {
namespace {

constexpr std::chrono::milliseconds kTurn(2);
constexpr std::chrono::milliseconds kLongestCatchUp(20);

double Milliseconds(uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

// The longest first.
class Longest {
 public:
  void Add(uint64_t ns) { times_.push_back(ns); }
  void Print(const char* what) {
    std::sort(times_.begin(), times_.end(), std::greater<>());
    std::printf("  %s: the longest", what);
    for (size_t i = 0; i < std::min<size_t>(times_.size(), 5); ++i) {
      std::printf(" %.1f", Milliseconds(times_[i]));
    }
    std::printf(" ms\n");
  }

 private:
  std::vector<uint64_t> times_;
};

class Collector {
 public:
  Collector(std::vector<uint64_t> arrivals, ProfileReader reader, ProfileWriter writer, bool beside)
      : reader_(std::move(reader)),
        recorder_(std::move(writer)),
        beside_(beside),
        arrivals_(std::move(arrivals)) {}

  void Run() {
    const uint64_t begin_ns = MonotonicNs();
    bool more = true;
    while (more) {
      const uint64_t turn_ns = MonotonicNs();
      more = TakeIn(turn_ns - begin_ns);
      const uint64_t taken_ns = MonotonicNs();
      intake_.Add(taken_ns - turn_ns);
      recorder_.CatchUp(kLongestCatchUp);
      Tell(MonotonicNs());
      rest_.Add(MonotonicNs() - taken_ns);
      std::this_thread::sleep_for(kTurn);
    }
    recorder_.CatchUpWithAll();
    std::printf("%s:\n", beside_ ? "studies on a thread of their own" : "studies on this thread");
    intake_.Print("taking frames in");
    rest_.Print("all else");
  }

 private:
  // What came by then.
  bool TakeIn(uint64_t elapsed_ns) {
    while (next_ < arrivals_.size() && arrivals_[next_] <= elapsed_ns) {
      FrameView frame;
      if (!reader_.Next(&frame)) return false;
      if (frame.type != FRAME_SUMMARY) {
        recorder_.Record(frame.source, frame.type, frame.payload);
      }
      ++next_;
    }
    return next_ < arrivals_.size();
  }

  void Tell(uint64_t now_ns) {
    if (recorder_.behind() || !pace_.Due(now_ns)) return;
    if (report_.RenewalIsDue(recorder_.state(), now_ns)) {
      recorder_.Study(
          [this, now_ns](const RunState& run_state) { report_.RenewWhatIsDue(run_state, now_ns); });
      if (beside_) return;
      recorder_.CatchUpWithAll();
    }
    const uint64_t cpu_before_ns = ThreadCpuNs();
    report_.Take(recorder_.Advance(), now_ns);
    pace_.Made(now_ns, ThreadCpuNs() - cpu_before_ns);
  }

  ProfileReader reader_;
  RunRecorder recorder_;
  LiveReport report_;
  SnapshotPace pace_;
  Longest intake_;
  Longest rest_;
  bool beside_;
  std::vector<uint64_t> arrivals_;
  size_t next_ = 0;
};

// When each frame came, since the first.
std::vector<uint64_t> ArrivalsOf(ProfileReader reader) {
  RunIntake intake;
  std::vector<uint64_t> arrivals;
  uint64_t begin_ns = 0;
  for (FrameView frame; reader.Next(&frame) && frame.type != FRAME_RUN_END;) {
    if (frame.type != FRAME_SUMMARY) intake.Consume(frame.source, frame.type, frame.payload);
    const uint64_t newest_ns = intake.state().NewestNs();
    if (begin_ns == 0) begin_ns = newest_ns;
    arrivals.push_back(newest_ns - begin_ns);
  }
  return arrivals;
}

bool Measure(const char* path, const std::string& scratch, bool beside) {
  absl::StatusOr<ProfileReader> first = ProfileReader::Open(path);
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(scratch);
  for (const absl::Status& status : {first.status(), reader.status(), writer.status()}) {
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return false;
  }
  Collector(ArrivalsOf(*std::move(first)), *std::move(reader), *std::move(writer), beside).Run();
  std::remove(scratch.c_str());
  return true;
}

}  // namespace
}  // namespace utlz

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: hold_ups PROFILE SCRATCH_FILE\n");
    return 2;
  }
  return utlz::Measure(words[1], words[2], false) && utlz::Measure(words[1], words[2], true) ? 0
                                                                                             : 1;
}
