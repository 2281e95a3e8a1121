#include "collector/session/run_recorder.h"

#include <utility>

#include "absl/strings/str_cat.h"
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

}  // namespace

RunRecorder::RunRecorder(ProfileWriter writer, const ProfileAllowance& allowance)
    : writer_(std::move(writer)), thinning_(allowance, ProfileThinning::Clock::now()) {}

void RunRecorder::Record(uint32_t source, uint16_t type, std::string_view payload) {
  thinning_.Offer(
      source, type, payload, ProfileThinning::Clock::now(), writer_.bytes_written(),
      [this](uint32_t of, uint16_t kept, std::string_view bytes) { Append(of, kept, bytes); });
  intake_.Consume(source, type, payload);
  if (source != 0) Publish();
}

void RunRecorder::Flush() {
  if (!write_failure_) Note(writer_.Flush());
}

void RunRecorder::Checkpoint() {
  if (write_failure_) return;
  const std::string summary = Summarize(intake_.Advance()).SerializeAsString();
  if (thinning_.HasRoom(ProfileThinning::Clock::now(), writer_.bytes_written() + summary.size())) {
    Append(0, FRAME_SUMMARY, summary);
  }
}

std::vector<CounterPrecision> RunRecorder::Precisions() const {
  return CounterPrecisions(intake_.state());
}

Summary RunRecorder::Finish(RunEnd end) {
  Flush();  // so that a disk that is full by now is said in the notices
  if (write_failure_) {
    end.add_notices(absl::StrCat(*write_failure_, "; this report is of the whole run"));
  }
  if (thinning_.thinned()) end.add_notices(kThinnedNotice);
  if (thinning_.descriptions_left_out()) end.add_notices(kDescriptionsLeftOutNotice);
  Record(0, FRAME_RUN_END, end.SerializeAsString());
  Summary summary = Summarize(intake_.Advance());
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
  if (!status.ok()) write_failure_ = std::string(status.message());
}

}  // namespace utlz
