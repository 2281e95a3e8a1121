// The state of one run, and its intake: takes the frames of every process and of the sampler, as
// they come, and can be asked at any time for what the run says so far.
//
// Streaming: memory is bounded by the number of kernel variants, processes and devices, and by a
// couple of seconds of records, never by the length of the run.
//
// Trust: every payload is hostile until checked. One that does not parse, or whose columns do not
// agree, is counted in CaptureSummary.frames_refused and has no other effect.
//
// Thread safety: none; one thread at a time.
#ifndef UTLZ_COLLECTOR_RUN_RUN_INTAKE_H_
#define UTLZ_COLLECTOR_RUN_RUN_INTAKE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "collector/run/activity_delivery.h"
#include "collector/run/agent_intake.h"
#include "collector/run/run_state.h"
#include "collector/run/sampler_intake.h"
#include "collector/run/summary_options.h"

namespace utlz {

class RunIntake {
 public:
  explicit RunIntake(const SummaryOptions& options = {});
  RunIntake(const RunIntake&) = delete;
  RunIntake& operator=(const RunIntake&) = delete;

  // ActivityDelivery::MeasureBy().
  void MeasureBy(std::function<uint64_t()> cpu_clock) { delivery_.MeasureBy(std::move(cpu_clock)); }
  // ActivityDelivery::UseThreads().
  void UseThreads(unsigned threads) { delivery_.UseThreads(threads); }

  // One frame. `source` is FrameHeader.source (0 = collector and sampler), `type` a FrameType,
  // `payload` the uncompressed protobuf message. Unknown types are skipped.
  void Consume(uint32_t source, uint16_t type, std::string_view payload);

  // All that is known so far, for a summary. Places in time what no earlier record can overtake any
  // more. Records of the last moments are counted, but placed only when the run has ended
  // (FRAME_RUN_END). The reference is valid as long as this object.
  const RunState& Advance();

  // The same, without placing anything.
  const RunState& state() const { return run_state_; }

  // Of kernels, as far as frames have come.
  uint64_t Launches() const { return run_state_.launches; }

  // No more frames will come: places the last records in time too. FRAME_RUN_END does the same; a
  // profile that was cut off lacks it.
  void EndOfInput();

  // Frames refused before they came here (ring, file), so that the summary counts all of them.
  void CountRefusedFrames(uint64_t frames) { run_state_.frames_refused += frames; }
  void CountUnreadableBytes(uint64_t bytes) { run_state_.bytes_unreadable += bytes; }

 private:
  bool Take(uint32_t source, uint16_t type, std::string_view payload);
  bool TakeFromAgent(uint32_t source, uint16_t type, std::string_view payload);
  bool TakeFromSampler(uint16_t type, std::string_view payload);
  bool TakeFromCollector(uint16_t type, std::string_view payload);
  void CountOtherProcesses(uint32_t index, uint32_t counted);
  bool TakeKernelCode(std::string_view payload);
  bool SetCeilings(const DeviceCeilings& ceilings);

  RunState run_state_;
  AgentIntake agent_intake_;
  SamplerIntake sampler_intake_;
  ActivityDelivery delivery_;
  size_t bytes_since_count_ = 0;
  bool ended_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_RUN_INTAKE_H_
