// Writes what the agent in one process of a planned run would have recorded: the process, its
// kernels, and launches and copies in trace windows. Thread safety: none.
#ifndef UTLZ_BENCH_DIAGNOSIS_AGENT_WRITER_H_
#define UTLZ_BENCH_DIAGNOSIS_AGENT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/diagnosis/planned_run.h"
#include "bench/diagnosis/recording_windows.h"
#include "collector/profile/profile_writer.h"

namespace utlz {

class AgentWriter {
 public:
  // What it refers to must outlive it. `index`: of the rank that the process is. Of ranks that are
  // one process, the first one's agent records for all.
  AgentWriter(const PlannedRun& run, uint32_t index, const std::string& uuid,
              std::vector<RecordingWindow> traced, ProfileWriter* writer);

  void Announce();
  void WriteUntil(uint64_t time_ns);
  void WriteStatus(uint64_t time_ns);
  // Closes the last window, and ends the process.
  void End();

 private:
  template <typename Message>
  void Write(FrameType type, const Message& message) {
    // Write errors are kept and come back from Finish().
    (void)writer_->Append(source_, static_cast<uint16_t>(type), message.SerializeAsString());
  }
  void AnnounceProcess();
  void AnnounceContext();
  void AnnounceVariants();
  void OpenAndClose(uint64_t until_ns);
  void WriteTraceWindow(const RecordingWindow& window, bool closed);
  // The start of the last recorded operation that began before `time_ns`; 0 if none was recorded.
  uint64_t LastRecordNs(uint64_t time_ns) const;
  void WriteLaunches(uint64_t until_ns);
  void WriteCopies(uint64_t until_ns);
  bool Traced(uint64_t time_ns) const;

  const PlannedRun& run_;
  const PlannedRank recorded_;
  const uint32_t index_;
  const uint32_t source_;
  const bool records_;  // false: another rank's agent does
  const std::string uuid_;
  const std::vector<RecordingWindow> traced_;
  ProfileWriter* writer_;
  uint64_t written_ns_ = 0;
  size_t next_launch_ = 0, next_copy_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_AGENT_WRITER_H_
