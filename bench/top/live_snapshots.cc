// What a collector pays to tell `utlz top` of a run: live_snapshots PROFILE
//
// Takes the recorded run in as it came and makes snapshots of it as often as a collector would on
// the clock of the recording. Prints what they took of the processor. Nothing else of the collector
// is in the figures.
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "collector/clocks.h"
#include "collector/live/live_report.h"
#include "collector/metrics/snapshot_pace.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"

namespace utlz {
namespace {

struct Cost {
  uint64_t sum_ns = 0;
  uint64_t longest_ns = 0;
  uint64_t times = 0;

  void Add(uint64_t ns) {
    sum_ns += ns;
    longest_ns = std::max(longest_ns, ns);
    ++times;
  }
  double mean_ms() const {
    return times > 0 ? static_cast<double>(sum_ns) * 1e-6 / static_cast<double>(times) : 0;
  }
  double longest_ms() const { return static_cast<double>(longest_ns) * 1e-6; }
};

class Watched {
 public:
  void Look(RunIntake* intake) {
    const uint64_t now_ns = intake->state().NewestNs();
    if (first_ns_ == 0) first_ns_ = now_ns;
    if (!pace_.Due(now_ns)) return;
    const RunState& run_state = intake->Advance();
    const uint64_t begin_ns = ThreadCpuNs();
    report_.RenewWhatIsDue(run_state, now_ns);
    const uint64_t renewed_ns = ThreadCpuNs();
    report_.Take(run_state, now_ns);
    const uint64_t end_ns = ThreadCpuNs();
    // What was not due takes no time.
    constexpr uint64_t kNothingNs = 10'000;
    if (renewed_ns - begin_ns > kNothingNs) renewals_.Add(renewed_ns - begin_ns);
    snapshots_.Add(end_ns - renewed_ns);
    pace_.Made(now_ns, end_ns - renewed_ns);
    if (last_ns_ != 0) longest_pause_ns_ = std::max(longest_pause_ns_, now_ns - last_ns_);
    last_ns_ = now_ns;
  }

  void Print(const RunState& run_state) const {
    const auto length_ns = static_cast<double>(last_ns_ - first_ns_);
    std::printf("%" PRIu64 " launches of %zu kernels in %.0f s\n", run_state.launches,
                run_state.kernels.kernels().size(), length_ns * 1e-9);
    std::printf("snapshots: %" PRIu64 ", %.2f ms each, the longest %.2f ms; at most %.1f s apart\n",
                snapshots_.times, snapshots_.mean_ms(), snapshots_.longest_ms(),
                static_cast<double>(longest_pause_ns_) * 1e-9);
    std::printf("renewals: %" PRIu64 ", %.1f ms each, the longest %.1f ms\n", renewals_.times,
                renewals_.mean_ms(), renewals_.longest_ms());
    std::printf("both: %.2f %% of a core\n",
                100 * static_cast<double>(snapshots_.sum_ns + renewals_.sum_ns) / length_ns);
  }

 private:
  LiveReport report_;
  SnapshotPace pace_;
  Cost snapshots_;
  Cost renewals_;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t longest_pause_ns_ = 0;
};

int Main(const char* path) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  if (!reader.ok()) {
    std::fprintf(stderr, "%s\n", std::string(reader.status().message()).c_str());
    return 1;
  }
  RunIntake intake;
  Watched watched;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY) continue;
    intake.Consume(frame.source, frame.type, frame.payload);
    watched.Look(&intake);
  }
  watched.Print(intake.Advance());
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: live_snapshots PROFILE\n");
    return 2;
  }
  return utlz::Main(words[1]);
}
