// Where every frame of a run goes: to RunIntake and, as far as there is room, into the profile.
//
// The profile takes the place of an older one once a process has been recorded, or at the end. A
// recorder that sees neither leaves what was there.
//
// What takes long to find out, Study() leaves to another thread. Meanwhile frames go into the
// profile alone, and wait for RunIntake: nobody may change what is looked at.
//
// Not thread safe: one thread records and asks.
#ifndef UTLZ_COLLECTOR_SESSION_RUN_RECORDER_H_
#define UTLZ_COLLECTOR_SESSION_RUN_RECORDER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "collector/profile/profile_writer.h"
#include "collector/run/run_intake.h"
#include "collector/session/background_study.h"
#include "collector/session/profile_thinning.h"
#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {

class RunRecorder {
 public:
  static constexpr std::chrono::seconds kKept{10};
  // Of frames that wait; where more come, recording waits for the study.
  static constexpr size_t kMostWaitingBytes = size_t{64} << 20;

  explicit RunRecorder(ProfileWriter writer, const ProfileAllowance& allowance = {});

  void Record(uint32_t source, uint16_t type, std::string_view payload);

  // Runs look(state) on another thread, then `then` in CatchUp() on this one. Only while no study
  // goes on; `look` may read the run, and change nothing that others read or write meanwhile.
  void Study(std::function<void(const RunState& run_state)> look, std::function<void()> then = {});
  bool studying() const { return studying_; }
  // Whether a study goes on, or frames that came meanwhile still wait.
  bool behind() const { return studying_ || !waiting_.empty(); }
  // Ends a study that is over, and takes in frames that wait, for about so long. True where that
  // was the last of them. Call it often.
  bool CatchUp(std::chrono::milliseconds at_most);
  // The same, however long it takes.
  void CatchUpWithAll();
  uint64_t study_cpu_ns() const { return study_.cpu_ns(); }

  // Hands what is buffered to the kernel, so that killing this process loses no more than what came
  // since.
  void Flush();
  // Puts the summary of what came so far into the profile, as a study.
  void BeginCheckpoint();
  // What comes in the next seconds stays in the profile, however much there is already.
  void KeepRecords() { thinning_.KeepFor(kKept, ProfileThinning::Clock::now()); }
  void CountRefusedFrames(uint64_t frames);

  // From now on no job runs beside: so many threads at once may work.
  void UseThreads(unsigned threads);

  uint64_t launches() const { return intake_.Launches(); }  // of kernels, so far
  // All that is known so far; the reference is valid until the next frame. Waits for a study.
  const RunState& Advance();
  // As far as launches have come, placed in time or not, but for frames that wait.
  const RunState& state() const { return intake_.state(); }

  // Set once writing failed (disk full, say). The run goes on.
  const std::optional<std::string>& write_failure() const { return write_failure_; }
  // Moved or removed while it was written.
  bool profile_is_elsewhere() const { return profile_is_elsewhere_; }

  // Records the end, closes the profile with the summary in it, and returns that.
  Summary Finish(RunEnd end);

 private:
  struct WaitingFrame {
    uint32_t source = 0;
    uint16_t type = 0;
    std::string payload;
  };

  void Append(uint32_t source, uint16_t type, std::string_view payload);
  void AppendSummary(const std::string& summary);
  void TakeIn(uint32_t source, uint16_t type, std::string_view payload);
  void EndStudy();
  void TakeInFirst();
  void Publish();
  void Note(const absl::Status& status);

  unsigned threads_ = 1;
  RunIntake intake_;
  ProfileWriter writer_;
  ProfileThinning thinning_;
  std::optional<std::string> write_failure_;
  bool profile_is_elsewhere_ = false;
  bool published_ = false;
  std::deque<WaitingFrame> waiting_;
  size_t waiting_bytes_ = 0;
  bool studying_ = false;
  std::function<void()> then_;
  BackgroundStudy study_;  // ends before what it looks at
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_RUN_RECORDER_H_
