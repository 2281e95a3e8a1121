#include "collector/session/run_recorder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/summarize/summary_builder.h"
#include "proto/frame.h"

namespace utlz {

namespace {

constexpr char kThinnedNotice[] =
    "The run was long: to keep the profile small, most single launches were left out of it. This "
    "report is of the whole run; exports and --recompute see windows of it.";
constexpr char kDescriptionsLeftOutNotice[] =
    "The processes sent more names, states and the like than a profile may hold: what came last "
    "was "
    "left out of the profile. Exports and --recompute lack it.";

// When the last recorded work on a GPU ended. A target wrote that: it is no later than now.
uint64_t LastWorkNs(const RunState& state) {
  uint64_t last_ns = 0;
  for (const auto& [source, process] : state.processes.processes()) {
    for (const auto& [device, until_ns] : process->recorded_until_ns) {
      last_ns = std::max(last_ns, until_ns);
    }
  }
  return std::min(last_ns, RealtimeNs());
}

}  // namespace

RunRecorder::RunRecorder(ProfileWriter writer, const ProfileAllowance& allowance)
    : writer_(std::move(writer)), thinning_(allowance, ProfileThinning::Clock::now()) {
  intake_.MeasureBy(ThreadCpuNs);
}

void RunRecorder::Record(uint32_t source, uint16_t type, std::string_view payload) {
  thinning_.Offer(
      source, type, payload, ProfileThinning::Clock::now(), writer_.bytes_written(),
      [this](uint32_t of, uint16_t kept, std::string_view bytes) { Append(of, kept, bytes); });
  TakeIn(source, type, payload);
  if (source != 0) Publish();
}

void RunRecorder::TakeIn(uint32_t source, uint16_t type, std::string_view payload) {
  if (!behind()) return intake_.Consume(source, type, payload);
  waiting_.push_back({.source = source, .type = type, .payload = std::string(payload)});
  waiting_bytes_ += payload.size() + sizeof(WaitingFrame);
  if (waiting_bytes_ > kMostWaitingBytes) CatchUpWithAll();
}

void RunRecorder::Study(std::function<void(const RunState& run_state)> look,
                        std::function<void()> then) {
  const RunState& run_state = Advance();
  studying_ = true;
  then_ = std::move(then);
  study_.Begin([look = std::move(look), &run_state] { look(run_state); });
}

void RunRecorder::EndStudy() {
  study_.Wait();
  studying_ = false;
  if (const std::function<void()> then = std::exchange(then_, nullptr)) then();
}

void RunRecorder::TakeInFirst() {
  const WaitingFrame frame = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= frame.payload.size() + sizeof(WaitingFrame);
  intake_.Consume(frame.source, frame.type, frame.payload);
}

bool RunRecorder::CatchUp(std::chrono::milliseconds at_most) {
  if (!behind() || (studying_ && !study_.over())) return false;
  if (studying_) EndStudy();
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!waiting_.empty() && std::chrono::steady_clock::now() < end) TakeInFirst();
  return waiting_.empty();
}

void RunRecorder::CatchUpWithAll() {
  if (studying_) EndStudy();
  while (!waiting_.empty()) TakeInFirst();
}

const RunState& RunRecorder::Advance() {
  CatchUpWithAll();
  return intake_.Advance();
}

void RunRecorder::UseThreads(unsigned threads) {
  CatchUpWithAll();
  threads_ = threads;
  intake_.UseThreads(threads);
}

void RunRecorder::CountRefusedFrames(uint64_t frames) {
  CatchUpWithAll();
  intake_.CountRefusedFrames(frames);
}

void RunRecorder::Flush() {
  if (!write_failure_) Note(writer_.Flush());
}

void RunRecorder::BeginCheckpoint() {
  if (write_failure_) return;
  auto summary = std::make_shared<std::string>();
  Study(
      [summary](const RunState& run_state) { *summary = Summarize(run_state).SerializeAsString(); },
      [this, summary] { AppendSummary(*summary); });
}

void RunRecorder::AppendSummary(const std::string& summary) {
  if (thinning_.HasRoom(ProfileThinning::Clock::now(), writer_.bytes_written() + summary.size())) {
    Append(0, FRAME_SUMMARY, summary);
  }
}

Summary RunRecorder::Finish(RunEnd end) {
  CatchUpWithAll();
  // A child that outlives the command is part of the run for as long as it is recorded.
  if (end.time_ns() != 0) end.set_time_ns(std::max<uint64_t>(end.time_ns(), LastWorkNs(state())));
  Flush();  // so that a disk that is full by now is said in the notices
  if (write_failure_) {
    end.add_notices(absl::StrCat(*write_failure_, "; this report is of the whole run"));
  }
  if (thinning_.thinned()) end.add_notices(kThinnedNotice);
  if (thinning_.descriptions_left_out()) end.add_notices(kDescriptionsLeftOutNotice);
  Record(0, FRAME_RUN_END, end.SerializeAsString());
  Summary summary = Summarize(Advance(), threads_);
  Append(0, FRAME_SUMMARY, summary.SerializeAsString());
  Publish();  // also what could be written of it in part
  if (!write_failure_) Note(writer_.Finish());
  return summary;
}

void RunRecorder::Append(uint32_t source, uint16_t type, std::string_view payload) {
  // Too large a message (the summary of a monstrous run) is left out, and the profile goes on.
  if (write_failure_ || payload.size() > kMaxFramePayloadBytes) return;
  Note(writer_.Append(source, type, payload));
}

void RunRecorder::Publish() {
  if (!std::exchange(published_, true)) Note(writer_.Publish());
}

void RunRecorder::Note(const absl::Status& status) {
  if (status.ok()) return;
  write_failure_ = std::string(status.message());
  profile_is_elsewhere_ = absl::IsNotFound(status);
}

}  // namespace utlz
