#include "tools/replay/replay.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "collector/decode/finite_numbers.h"
#include "collector/decode/parse.h"
#include "collector/each_in_threads.h"
#include "collector/profile/profile_reader.h"
#include "collector/summarize/summary_builder.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

// Of a file that anyone may have written: what is no number is unknown.
template <typename Message>
bool ParseStored(std::string_view payload, Message* message) {
  if (!ParseWithinMemory(payload, message)) return false;
  ClearNonFinite(message);
  return true;
}

absl::StatusOr<Summary> Replay(const std::string& path, const std::optional<std::string>& note,
                               const SummaryOptions& options) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  if (!reader.ok()) return reader.status();
  RunIntake intake(options);
  intake.UseThreads(WorthwhileThreads());
  RanksSummary ranks;  // of a merge, which alone had the clocks of all hosts
  bool has_ranks = false;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY) continue;
    if (frame.type == FRAME_RANKS && frame.source == 0) {
      has_ranks = ParseStored(frame.payload, &ranks);
      continue;
    }
    RunStart start;
    if (note && frame.type == FRAME_RUN_START && Parse(frame.payload, &start)) {
      start.set_recording(true);
      start.set_recording_note(*note);
      intake.Consume(frame.source, frame.type, start.SerializeAsString());
      continue;
    }
    intake.Consume(frame.source, frame.type, frame.payload);
  }
  intake.CountRefusedFrames(reader->refused_frames());
  intake.CountUnreadableBytes(reader->unreadable_bytes());
  intake.EndOfInput();
  Summary summary = Summarize(intake.Advance(), WorthwhileThreads());
  if (has_ranks) *summary.mutable_ranks() = std::move(ranks);
  return summary;
}

bool TakesLongToReplay(const std::string& path, const LoadOptions& options) {
  std::error_code unknown;
  const uintmax_t bytes = std::filesystem::file_size(path, unknown);
  return !unknown && bytes > options.replayed_at_most_bytes;
}

// Left by a utlz that knew no ladder: reports of it would lack what the rules of today find.
bool IsOfEarlierRules(const Summary& summary) {
  return summary.has_steady_state() && !summary.has_trust();
}

void MarkAsCheckpoint(Summary* summary) {
  summary->mutable_run()->set_finished(false);
  summary->mutable_run()->add_notices(
      "The profile ends before its run did. So as not to read all of it, this is the state that "
      "the "
      "collector last noted down; utlz report --recompute reads what came after, too.");
}

}  // namespace

absl::StatusOr<Summary> LoadSummary(const std::string& path, const LoadOptions& options) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  if (!reader.ok()) return reader.status();
  if (reader->finished() || TakesLongToReplay(path, options)) {
    const std::optional<FrameView> frame = reader->FindLast(FRAME_SUMMARY);
    Summary summary;
    if (frame && frame->source == 0 && ParseStored(frame->payload, &summary)) {
      if (!reader->finished()) MarkAsCheckpoint(&summary);
      if (!IsOfEarlierRules(summary) || TakesLongToReplay(path, options)) return summary;
    }
  }
  return ReplayProfile(path);
}

absl::StatusOr<Summary> ReplayProfile(const std::string& path, const SummaryOptions& options) {
  return Replay(path, std::nullopt, options);
}

absl::StatusOr<Summary> ReplayRecording(const std::string& path, const std::string& note,
                                        const SummaryOptions& options) {
  return Replay(path, note, options);
}

}  // namespace utlz
