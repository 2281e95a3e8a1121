#include "collector/session/profile_thinning.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "proto/profile.pb.h"

namespace utlz {
namespace {

constexpr char kGapReason[] = "left out, to keep the profile small";
constexpr size_t kMaxProcesses = 65536;  // as many as a run admits

// Records, and of an agent what this release does not know.
bool ComesByTheThousand(uint32_t source, uint16_t type) {
  switch (type) {
    case FRAME_LAUNCHES:
    case FRAME_COPIES:
    case FRAME_MARKERS:
    case FRAME_LAUNCH_CALLS:
    case FRAME_COMMUNICATION_CALLS:
    case FRAME_THREAD_STACKS:
    case FRAME_SAMPLES:
      return true;
    default:
      return source != 0 && !FrameType_IsValid(type);
  }
}

// LaunchBatch.base_ns, which agents write first; zero where it is not.
uint64_t BaseOf(std::string_view launch_batch) {
  constexpr char kTag = LaunchBatch::kBaseNsFieldNumber << 3 | 1;  // fixed64
  uint64_t base_ns = 0;
  if (launch_batch.size() > sizeof(base_ns) && launch_batch[0] == kTag) {
    std::memcpy(&base_ns, launch_batch.data() + 1, sizeof(base_ns));
  }
  return base_ns;
}

std::string Window(uint64_t start_ns, uint64_t end_ns, uint32_t flags, const char* gap_reason) {
  TraceWindow window;
  window.set_start_ns(start_ns);
  window.set_end_ns(end_ns);
  window.set_flags(flags);
  window.set_gap_reason(gap_reason);
  return window.SerializeAsString();
}

}  // namespace

void ProfileThinning::Offer(uint32_t source, uint16_t type, std::string_view payload,
                            Clock::time_point now, uint64_t bytes_written, const Sink& write) {
  if (source != 0 && !HasRoom(now, bytes_written + payload.size())) {
    descriptions_left_out_ = true;
    return;
  }
  if (type == FRAME_TRACE_WINDOW) return OfferTraceWindow(source, payload, write);
  if (type == FRAME_PROCESS_END) CloseProcess(source, payload, write);
  if (!ComesByTheThousand(source, type)) return write(source, type, payload);
  const bool may_write = MayWrite(now, bytes_written);
  thinned_ = thinned_ || !may_write;
  if (type == FRAME_LAUNCHES) {
    return may_write ? WriteLaunches(source, payload, write)
                     : LeaveOutLaunches(source, payload, write);
  }
  // What else a process did is kept for the same stretches as its launches.
  const auto tracing = tracing_.find(source);
  const bool left_out = tracing != tracing_.end() && tracing->second.left_out;
  if (may_write && !left_out) write(source, type, payload);
}

bool ProfileThinning::HasRoom(Clock::time_point now, uint64_t bytes) const {
  return static_cast<double>(bytes) <=
             AllowedBytes(now) + static_cast<double>(allowance_.description_bytes) &&
         bytes <= allowance_.maximum_bytes;
}

double ProfileThinning::AllowedBytes(Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  return static_cast<double>(allowance_.burst_bytes) + seconds * allowance_.bytes_per_second;
}

bool ProfileThinning::IsKept(Clock::time_point now, uint64_t bytes_written) {
  if (now >= keep_until_) return false;
  if (!keep_from_bytes_) keep_from_bytes_ = bytes_written;
  return bytes_written < *keep_from_bytes_ + allowance_.kept_bytes &&
         bytes_written < allowance_.maximum_bytes;
}

bool ProfileThinning::MayWrite(Clock::time_point now, uint64_t bytes_written) {
  if (IsKept(now, bytes_written)) return true;
  const double left = std::min(AllowedBytes(now), static_cast<double>(allowance_.maximum_bytes)) -
                      static_cast<double>(bytes_written);
  writing_ = left >= (writing_ ? 0 : static_cast<double>(allowance_.window_bytes));
  return writing_;
}

void ProfileThinning::OfferTraceWindow(uint32_t source, std::string_view payload,
                                       const Sink& write) {
  TraceWindow window;
  if (!window.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ||
      (tracing_.size() >= kMaxProcesses && !tracing_.contains(source))) {
    return write(source, FRAME_TRACE_WINDOW, payload);
  }
  Tracing& tracing = tracing_[source];
  const bool cut = tracing.open && window.start_ns() == tracing.start_ns &&
                   tracing.written_ns != tracing.start_ns;
  tracing.open = window.end_ns() == 0;
  tracing.flags = window.flags();
  tracing.start_ns = window.start_ns();
  if (!cut) tracing.written_ns = window.start_ns();
  if (tracing.left_out) return;
  if (!cut) return write(source, FRAME_TRACE_WINDOW, payload);
  write(source, FRAME_TRACE_WINDOW,
        Window(tracing.written_ns, window.end_ns(), window.flags(), kGapReason));
}

void ProfileThinning::LeaveOutLaunches(uint32_t source, std::string_view payload,
                                       const Sink& write) {
  if (tracing_.size() >= kMaxProcesses && !tracing_.contains(source)) return;
  Tracing& tracing = tracing_[source];
  if (tracing.left_out) return;
  tracing.left_out = true;
  if (!tracing.open) return;
  write(source, FRAME_TRACE_WINDOW,
        Window(tracing.written_ns, std::max(BaseOf(payload), tracing.written_ns + 1), tracing.flags,
               ""));
}

// What was left out at the end of a process is a gap too: an empty window ends it.
void ProfileThinning::CloseProcess(uint32_t source, std::string_view payload, const Sink& write) {
  const auto found = tracing_.find(source);
  ProcessEnd end;
  if (found == tracing_.end() ||
      !end.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return;
  }
  const Tracing& tracing = found->second;
  if (tracing.left_out && tracing.open) {
    write(source, FRAME_TRACE_WINDOW,
          Window(end.time_ns(), end.time_ns(), tracing.flags, kGapReason));
  }
  tracing_.erase(found);
}

void ProfileThinning::WriteLaunches(uint32_t source, std::string_view payload, const Sink& write) {
  const auto found = tracing_.find(source);
  if (found != tracing_.end() && found->second.left_out) {
    Tracing& tracing = found->second;
    tracing.left_out = false;
    if (tracing.open) {
      tracing.written_ns = std::max(BaseOf(payload), tracing.start_ns);
      write(source, FRAME_TRACE_WINDOW, Window(tracing.written_ns, 0, tracing.flags, kGapReason));
    }
  }
  write(source, FRAME_LAUNCHES, payload);
}

}  // namespace utlz
