// Where every frame of a run goes: to RunIntake and, as far as there is room, into the profile.
//
// The profile takes the place of an older one once a process has been recorded, or at the end. A
// recorder that sees neither leaves what was there.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_RUN_RECORDER_H_
#define UTLZ_COLLECTOR_SESSION_RUN_RECORDER_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analysis/counter_precision.h"
#include "collector/profile/profile_writer.h"
#include "collector/run/run_intake.h"
#include "collector/session/profile_thinning.h"
#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {

class RunRecorder {
 public:
  static constexpr std::chrono::seconds kKept{10};

  explicit RunRecorder(ProfileWriter writer, const ProfileAllowance& allowance = {});

  void Record(uint32_t source, uint16_t type, std::string_view payload);
  // Hands what is buffered to the kernel, so that killing this process loses no more than what came
  // since.
  void Flush();
  // Puts the summary of what came so far into the profile.
  void Checkpoint();
  // What comes in the next seconds stays in the profile, however much there is already.
  void KeepRecords() { thinning_.KeepFor(kKept, ProfileThinning::Clock::now()); }
  void CountRefusedFrames(uint64_t frames) { intake_.CountRefusedFrames(frames); }

  uint64_t launches() const { return intake_.Launches(); }  // of kernels, so far
  // All that is known so far; the reference is valid until the next frame.
  const RunState& Advance() { return intake_.Advance(); }
  // Of the counters sampled so far.
  std::vector<CounterPrecision> Precisions() const;
  // As far as launches have come, placed in time or not.
  const RunState& state() const { return intake_.state(); }

  // Set once writing failed (disk full, say). The run goes on.
  const std::optional<std::string>& write_failure() const { return write_failure_; }

  // Records the end, closes the profile with the summary in it, and returns that.
  Summary Finish(RunEnd end);

 private:
  void Append(uint32_t source, uint16_t type, std::string_view payload);
  void Publish();
  void Note(const absl::Status& status);

  RunIntake intake_;
  ProfileWriter writer_;
  ProfileThinning thinning_;
  std::optional<std::string> write_failure_;
  bool published_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_RUN_RECORDER_H_
