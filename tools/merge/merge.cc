#include "tools/merge/merge.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "collector/profile/profile_reader.h"
#include "collector/profile/profile_writer.h"
#include "collector/run/run_intake.h"
#include "collector/each_in_threads.h"
#include "collector/summarize/summary_builder.h"
#include "tools/merge/collective_reader.h"
#include "tools/merge/device_frames.h"
#include "tools/merge/frame_shift.h"
#include "tools/merge/host_clocks.h"
#include "tools/merge/stragglers.h"

namespace utlz {
namespace {

constexpr uint32_t kMaxSources = 65536;
constexpr uint32_t kMetricSetStride = 1u << 16;
constexpr size_t kMaxInputs = 1u << 15;

struct Input {
  const ProfileOutline* outline = nullptr;
  FrameShift shift;
  uint32_t source_offset = 0;
};

// The frames of one input, moved, with the time of the next one.
class Feed {
 public:
  Feed(ProfileReader reader, const Input* input) : reader_(std::move(reader)), input_(input) {
    Advance();
  }

  bool done() const { return done_; }
  uint64_t time_ns() const { return time_ns_; }  // of the next frame, or of one before it
  uint32_t source() const { return frame_.source == 0 ? 0 : frame_.source + input_->source_offset; }
  uint16_t type() const { return frame_.type; }
  std::string* payload() { return &payload_; }
  uint64_t refused() const { return refused_ + reader_.refused_frames(); }
  uint64_t unreadable_bytes() const { return reader_.unreadable_bytes(); }

  void Advance() {
    while (reader_.Next(&frame_)) {
      const bool of_run = frame_.type >= FRAME_RUN_START && frame_.type != FRAME_DEVICE_CEILINGS;
      // The merged run has its own. Times of what this release does not know it cannot move.
      if (of_run || !FrameType_IsValid(frame_.type)) continue;
      uint64_t time_ns = 0;
      if (ShiftFrame(frame_.type, frame_.payload, input_->shift, &payload_, &time_ns)) {
        time_ns_ = std::max(time_ns_, time_ns);
        return;
      }
      ++refused_;
    }
    done_ = true;
  }

 private:
  ProfileReader reader_;
  const Input* input_;
  FrameView frame_;
  std::string payload_;
  uint64_t time_ns_ = 0;
  uint64_t refused_ = 0;
  bool done_ = false;
};

absl::Status CheckPaths(const std::vector<std::string>& inputs, const std::string& output) {
  for (const std::string& input : inputs) {
    std::error_code none;
    if (std::filesystem::equivalent(input, output, none)) {
      return absl::InvalidArgumentError(
          "the merged profile would replace " + input +
          ", which is one of its parts; choose another place with -o");
    }
  }
  return absl::OkStatus();
}

uint64_t Earlier(uint64_t time_ns, const FrameShift& shift) {
  return time_ns == 0 ? 0 : time_ns - static_cast<uint64_t>(shift.earlier_ns);
}

RunStart MergedStart(const std::vector<Input>& inputs) {
  RunStart start = inputs[0].outline->start;
  std::set<std::string> hosts;
  std::string names;
  for (const Input& input : inputs) {
    const RunStart& own = input.outline->start;
    const uint64_t time_ns = Earlier(own.time_ns(), input.shift);
    if (time_ns != 0 && (start.time_ns() == 0 || time_ns < start.time_ns()))
      start.set_time_ns(time_ns);
    if (own.recording()) start.set_recording(true);
    if (start.recording_note().empty()) start.set_recording_note(own.recording_note());
    if (!hosts.insert(input.outline->host).second || input.outline->host.empty()) continue;
    names += (names.empty() ? "" : ", ") + input.outline->host;
  }
  start.set_host(names);
  return start;
}

// Absent where no input saw its end. The first bad end is the merged run's.
bool MergedEnd(const std::vector<Input>& inputs, RunEnd* end) {
  bool known = false;
  for (const Input& input : inputs) {
    const RunEnd& own = input.outline->end;
    const std::string prefix = input.outline->host.empty() ? "" : input.outline->host + ": ";
    for (const std::string& notice : own.notices()) end->add_notices(prefix + notice);
    if (!input.outline->has_end) {
      end->add_notices(input.outline->path + " ends before its run did.");
      continue;
    }
    known = true;
    end->set_time_ns(std::max(end->time_ns(), Earlier(own.time_ns(), input.shift)));
    if (own.has_signal() && !end->has_signal()) end->set_signal(own.signal());
    if (own.has_exit_status() && end->exit_status() == 0) end->set_exit_status(own.exit_status());
    end->set_collector_cpu_ns(end->collector_cpu_ns() + own.collector_cpu_ns());
  }
  return known;
}

void DescribeClocks(const std::vector<HostClock>& clocks, RanksSummary* summary) {
  for (const HostClock& clock : clocks) {
    ClockSummary* described = summary->add_clocks();
    if (!clock.host.empty()) described->set_host(clock.host);
    if (clock.aligned) {
      described->set_shift_ns(clock.shift.shift_ns);
      described->set_shift_error_ns(clock.shift.error_ns);
      if (clock.shift.drift != 0) described->set_drift_ppm(clock.shift.drift * 1e6);
    }
    if (clock.shift.pairs > 0) {
      described->set_collectives(clock.shift.pairs);
      described->set_span_ns(clock.shift.span_ns);
    }
    std::string note;
    for (const std::string& one : clock.notes) note += (note.empty() ? "" : " ") + one;
    if (!note.empty()) described->set_note(note);
  }
}

const HostClock& ClockOf(const std::vector<HostClock>& clocks, const std::string& host) {
  return *std::find_if(clocks.begin(), clocks.end(),
                       [&](const HostClock& one) { return one.host == host; });
}

class Merger {
 public:
  explicit Merger(ProfileWriter writer) : writer_(std::move(writer)) {}

  absl::Status Append(uint32_t source, uint16_t type, const std::string& payload) {
    intake_.Consume(source, type, payload);
    return writer_.Append(source, type, payload);
  }

  // The frame that is next by time, from whichever input, until there is none.
  absl::Status AppendAll(std::vector<Feed>* feeds) {
    DeviceFrames of_devices;
    for (;;) {
      Feed* next = nullptr;
      for (Feed& feed : *feeds) {
        if (!feed.done() && (next == nullptr || feed.time_ns() < next->time_ns())) next = &feed;
      }
      if (next == nullptr) return absl::OkStatus();
      const auto input = static_cast<size_t>(next - feeds->data());
      if (of_devices.Take(input, next->type(), next->payload())) {
        const absl::Status status = Append(next->source(), next->type(), *next->payload());
        if (!status.ok()) return status;
      }
      next->Advance();
    }
  }

  absl::StatusOr<Summary> Finish(const RanksSummary& ranks, const std::vector<Feed>& feeds) {
    for (const Feed& feed : feeds) {
      intake_.CountRefusedFrames(feed.refused());
      intake_.CountUnreadableBytes(feed.unreadable_bytes());
    }
    intake_.EndOfInput();
    Summary summary = Summarize(intake_.Advance(), WorthwhileThreads());
    *summary.mutable_ranks() = ranks;
    absl::Status status = writer_.Append(0, FRAME_RANKS, ranks.SerializeAsString());
    if (status.ok()) status = writer_.Append(0, FRAME_SUMMARY, summary.SerializeAsString());
    if (status.ok()) status = writer_.Finish();
    if (!status.ok()) return status;
    return summary;
  }

 private:
  ProfileWriter writer_;
  RunIntake intake_;
};

// A run counts once, whatever its copies are called.
absl::Status CheckRuns(const std::vector<ProfileOutline>& outlines) {
  std::map<std::tuple<std::string, uint64_t, uint64_t>, std::string> runs;
  for (const ProfileOutline& outline : outlines) {
    const uint64_t start_ns = outline.start.time_ns();
    const uint64_t pid = outline.ranks.empty() ? 0 : outline.ranks[0].pid;
    const auto [known, is_new] = runs.try_emplace({outline.host, start_ns, pid}, outline.path);
    if (is_new || start_ns == 0) continue;
    return absl::InvalidArgumentError(known->second + " and " + outline.path +
                                      " hold the same run; leave one of them out");
  }
  return absl::OkStatus();
}

// Ranks of one job run at the same time; of other hosts that cannot be told before their clocks are
// aligned.
absl::Status CheckTimes(const std::vector<ProfileOutline>& outlines) {
  struct Span {
    const ProfileOutline* last_start = nullptr;
    const ProfileOutline* first_end = nullptr;
  };
  std::map<std::string, Span> spans;
  for (const ProfileOutline& outline : outlines) {
    Span& span = spans[outline.host];
    if (span.last_start == nullptr || outline.start.time_ns() > span.last_start->start.time_ns()) {
      span.last_start = &outline;
    }
    if (outline.has_end && outline.end.time_ns() != 0 &&
        (span.first_end == nullptr || outline.end.time_ns() < span.first_end->end.time_ns())) {
      span.first_end = &outline;
    }
  }
  for (const auto& [host, span] : spans) {
    if (span.first_end == nullptr ||
        span.last_start->start.time_ns() <= span.first_end->end.time_ns()) {
      continue;
    }
    return absl::InvalidArgumentError(
        span.first_end->path + " ended before " + span.last_start->path +
        " began: these are not ranks of one job; compare them with utlz diff");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ProfileOutline>> ReadOutlines(const std::vector<std::string>& paths) {
  NameNumbers names;
  std::vector<ProfileOutline> outlines;
  size_t sources = 0;
  for (const std::string& path : paths) {
    absl::StatusOr<ProfileOutline> outline = ReadOutline(path, &names);
    if (!outline.ok()) return outline.status();
    sources += outline->sources;
    outlines.push_back(*std::move(outline));
    if (sources >= kMaxSources || outlines.size() > kMaxInputs) {
      return absl::InvalidArgumentError(
          "the profiles hold more processes than one profile can; merge fewer of them");
    }
  }
  return outlines;
}

std::vector<Input> PlaceInputs(const std::vector<ProfileOutline>& outlines,
                               const std::vector<HostClock>& clocks) {
  std::vector<Input> inputs;
  uint32_t sources = 0;
  for (const ProfileOutline& outline : outlines) {
    Input input;
    input.outline = &outline;
    input.source_offset = sources;
    input.shift.earlier_ns = std::llround(ClockOf(clocks, outline.host).shift.shift_ns);
    input.shift.metric_set_offset = static_cast<uint32_t>(inputs.size()) * kMetricSetStride;
    sources += outline.sources;
    inputs.push_back(input);
  }
  return inputs;
}

RanksSummary DescribeRanks(const std::vector<Input>& inputs, const std::vector<HostClock>& clocks,
                           double wall_ns) {
  RanksSummary summary;
  DescribeClocks(clocks, &summary);
  std::vector<PlacedRank> ranks;
  for (const Input& input : inputs) {
    for (const RankTrace& trace : input.outline->ranks) {
      const HostClock& clock = ClockOf(clocks, input.outline->host);
      if (trace.collectives.empty() || !clock.aligned) continue;
      ranks.push_back(
          {&trace, clock.shift, input.outline->host, trace.source + input.source_offset});
    }
  }
  FindStragglers(ranks, wall_ns, &summary);
  return summary;
}

}  // namespace

absl::StatusOr<Summary> MergeProfiles(const std::vector<std::string>& paths,
                                      const std::string& output) {
  const absl::Status distinct = CheckPaths(paths, output);
  if (!distinct.ok()) return distinct;
  const absl::StatusOr<std::vector<ProfileOutline>> outlines = ReadOutlines(paths);
  if (!outlines.ok()) return outlines.status();
  if (const absl::Status runs = CheckRuns(*outlines); !runs.ok()) return runs;
  if (const absl::Status times = CheckTimes(*outlines); !times.ok()) return times;
  const std::vector<HostClock> clocks = AlignHosts(*outlines);
  const std::vector<Input> inputs = PlaceInputs(*outlines, clocks);
  std::vector<Feed> feeds;
  for (const Input& input : inputs) {
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(input.outline->path);
    if (!reader.ok()) return reader.status();
    feeds.emplace_back(*std::move(reader), &input);
  }
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(output);
  if (!writer.ok()) return writer.status();
  Merger merger(*std::move(writer));
  const RunStart start = MergedStart(inputs);
  RunEnd end;
  const bool has_end = MergedEnd(inputs, &end);
  absl::Status status = merger.Append(0, FRAME_RUN_START, start.SerializeAsString());
  if (status.ok()) status = merger.AppendAll(&feeds);
  if (status.ok() && has_end) status = merger.Append(0, FRAME_RUN_END, end.SerializeAsString());
  if (!status.ok()) return status;
  const double wall_ns =
      end.time_ns() > start.time_ns() ? static_cast<double>(end.time_ns() - start.time_ns()) : 0;
  return merger.Finish(DescribeRanks(inputs, clocks, wall_ns), feeds);
}

}  // namespace utlz
