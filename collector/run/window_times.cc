#include "collector/run/window_times.h"

#include <algorithm>
#include <cmath>

#include "proto/ring_abi.h"

namespace utlz {
namespace {

// In a run's first window, which nothing came before, of an agent that does not tell gaps apart.
constexpr double kLeastNumbersRecorded = 0.95;
// Fewer say too little of how many numbers in a gap were something that ran.
constexpr double kLeastNumbersSeen = 0.5;
// No more numbers without a record say nothing of a gap: windows hold few launches, and one number
// was seen to pass at a program's exit (CUPTI 13.0 and 12.8).
constexpr double kFewNumbers = 2;
// Records that come after later ones: their numbers pass before they are counted.
constexpr uint64_t kMostUnderWay = 16384;
// More of them say no more of a gap that cannot be told.
constexpr uint32_t kMostGapsBefore = 64;
// Gaps with nothing but idle windows between them, on either side.
constexpr uint32_t kMostGapsTogether = 1024;
// No GPU begins kernels more often.
constexpr uint64_t kShortestOperationNs = 50;

}  // namespace

void WindowTimes::Add(const TraceWindow& window) {
  if ((window.flags() & kTraceKernels) == 0 || window.start_ns() == 0) return;
  const bool known = !windows_.empty() && windows_.back().start_ns == window.start_ns();
  if (!known) {
    const uint64_t newest_ns = windows_.empty() ? 0 : windows_.back().start_ns;
    if (windows_.size() >= kMaxWindows || window.start_ns() < newest_ns) return;
    // One whose end was never told ended when this one began, at the latest.
    if (!windows_.empty() && windows_.back().end_ns == 0) {
      windows_.back().end_ns = window.start_ns();
    }
    const uint64_t unrecorded = windows_.empty() ? 0 : windows_.back().unrecorded;
    windows_.push_back({.start_ns = window.start_ns(), .end_ns = 0, .unrecorded = unrecorded});
  }
  if (window.end_ns() >= window.start_ns()) windows_.back().end_ns = window.end_ns();
}

void WindowTimes::AddStatus(const AgentStatus& status) {
  if (windows_.empty()) return;
  Window& window = windows_.back();
  window.recorded = status.operations_recorded();
  window.numbered = status.operations_numbered();
  window.ended = window.ended || status.records_state() == RECORDS_ENDED;
  if (status.has_operations_in_gaps()) window.in_gaps = status.operations_in_gaps();
  window.unrecorded = windows_.size() > 1 ? windows_[windows_.size() - 2].unrecorded : 0;
  if (window.numbered > window.recorded) {
    window.unrecorded = std::max(window.unrecorded, window.numbered - window.recorded);
  }
}

void WindowTimes::CountOperations(Place place, uint32_t operations) {
  if (windows_.empty()) return;
  Window& window = windows_.back();
  if (place.slice > window.slice) {
    window.in_slice_before = place.slice == window.slice + 1 ? window.in_slice : 0;
    window.in_slice = 0;
    window.slice = place.slice;
  }
  if (place.slice == 0) window.in_head += operations;
  if (place.slice == window.slice) {
    window.in_slice += operations;
  } else if (place.slice + 1 == window.slice) {
    window.in_slice_before += operations;
  }
}

uint64_t WindowTimes::TailOperations(uint32_t window, uint64_t now_ns) const {
  const Window& entry = windows_[window];
  const uint32_t tail = TailSlice(window, now_ns);
  uint64_t operations = 0;
  if (entry.slice > tail) operations += entry.in_slice_before;
  if (entry.slice >= tail) operations += entry.in_slice;
  return operations;
}

bool WindowTimes::HasRecords(uint32_t window) const {
  const uint64_t before = window == 0 ? 0 : windows_[window - 1].recorded;
  return windows_[window].recorded > before;
}

WindowTimes::Gaps WindowTimes::GapsWith(uint32_t window) const {
  const auto newest = static_cast<uint32_t>(windows_.size() - 1);
  Gaps gaps = {.before = window, .after = window + 1};
  while (gaps.before > 0 && window - gaps.before < kMostGapsTogether && !HasRecords(gaps.before)) {
    --gaps.before;
  }
  while (gaps.after < newest && gaps.after - window < kMostGapsTogether &&
         !HasRecords(gaps.after)) {
    ++gaps.after;
  }
  return gaps;
}

uint64_t WindowTimes::TimeNs(const Gaps& gaps) const {
  uint64_t time_ns = 0;
  for (uint32_t i = gaps.before; i < gaps.after; ++i) time_ns += GapNs(i);
  return time_ns;
}

// Of the numbers that passed in the windows on both sides some had no record: what is launched into
// a capture, say. So many of them were none in the gaps too. Windows further off say nothing of
// these: in one, a program may capture thousands. The run's first is left out, in which programs
// do.
std::optional<uint64_t> WindowTimes::NumbersIn(const Gaps& gaps) const {
  const Window& begin = windows_[gaps.before == 0 ? 0 : gaps.before - 1];
  const Window& before = windows_[gaps.before];
  const Window& after = windows_[gaps.after];
  if (!begin.in_gaps || !before.in_gaps || !after.in_gaps) return std::nullopt;
  const auto seen = [](const Window& until) {
    return static_cast<double>(until.numbered) - static_cast<double>(*until.in_gaps);
  };
  const double numbers = seen(after) - seen(begin);
  const auto records = static_cast<double>(after.recorded - begin.recorded);
  if (records < kLeastNumbersSeen * numbers || *after.in_gaps < *before.in_gaps) {
    return std::nullopt;
  }
  const double share = numbers > records + kFewNumbers ? records / numbers : 1;
  return static_cast<uint64_t>(
      std::llround(share * static_cast<double>(*after.in_gaps - *before.in_gaps)));
}

std::optional<uint64_t> WindowTimes::Operations(const Gaps& gaps) const {
  const Window& first = windows_.front();
  const Window& before = windows_[gaps.before];
  const Window& after = windows_[gaps.after];
  if (before.recorded == 0 || after.recorded <= before.recorded) return std::nullopt;
  const uint64_t possible = TimeNs(gaps) / kShortestOperationNs;
  if (after.in_gaps.has_value()) {
    const std::optional<uint64_t> told = NumbersIn(gaps);
    return told.has_value() && *told <= possible ? told : std::nullopt;
  }
  // Numbers that other calls were given too say nothing of what ran.
  if (static_cast<double>(first.recorded) <
      kLeastNumbersRecorded * static_cast<double>(first.numbered)) {
    return std::nullopt;
  }
  const uint64_t operations = after.unrecorded - before.unrecorded;
  if (after.numbered + kMostUnderWay < after.recorded + after.unrecorded || operations > possible) {
    return std::nullopt;
  }
  return operations;
}

std::optional<double> WindowTimes::ProbableOperations(const Gaps& gaps) const {
  if (const auto exact = Operations(gaps); exact.has_value()) return static_cast<double>(*exact);
  const uint64_t wanted_ns = TimeNs(gaps);
  uint64_t operations = 0, time_ns = 0;
  uint32_t window = gaps.before;
  for (uint32_t i = 0; i < kMostGapsBefore && window > 0 && time_ns < wanted_ns; ++i) {
    const Gaps earlier = GapsWith(window - 1);
    const auto counted = Operations(earlier);
    if (!counted.has_value()) break;
    operations += *counted;
    time_ns += TimeNs(earlier);
    window = earlier.before;
  }
  if (time_ns == 0) return std::nullopt;
  return static_cast<double>(operations) * static_cast<double>(wanted_ns) /
         static_cast<double>(time_ns);
}

uint64_t WindowTimes::GapNs(uint32_t window) const {
  const uint64_t end_ns = windows_[window].end_ns;
  const uint64_t until_ns = windows_[window + 1].start_ns;
  return until_ns > end_ns ? until_ns - end_ns : 0;
}

std::vector<WindowTimes::Stretch> WindowTimes::Stretches() const {
  std::vector<Stretch> stretches;
  uint64_t recorded = 0;
  for (uint32_t i = 0; i + 1 < windows_.size(); ++i) {
    const Window& window = windows_[i];
    const uint64_t operations = window.recorded > recorded ? window.recorded - recorded : 0;
    // The last gap, which an empty window ends, holds the program's way out.
    const bool alone = HasRecords(i) && HasRecords(i + 1) && LengthNs(i + 1, UINT64_MAX) > 0;
    stretches.push_back({LengthNs(i, 0), GapNs(i), operations,
                         alone ? Operations({.before = i, .after = i + 1}) : std::nullopt});
    recorded = window.recorded;
  }
  return stretches;
}

std::vector<WindowTimes::Span> WindowTimes::Spans(uint64_t now_ns) const {
  std::vector<Span> spans;
  std::optional<uint32_t> before;
  uint64_t recorded = 0;
  for (uint32_t i = 0; i < windows_.size(); ++i) {
    const bool at_an_end = i == 0 || i + 1 == windows_.size();
    if (!HasRecords(i) && !at_an_end) continue;
    const Window& window = windows_[i];
    if (before.has_value()) {
      const auto operations = windows_[*before].ended
                                  ? std::nullopt
                                  : Operations({.before = *before, .after = i});
      spans.push_back({windows_[*before].end_ns, window.start_ns, false, operations});
    }
    const uint64_t operations = window.recorded > recorded ? window.recorded - recorded : 0;
    spans.push_back({window.start_ns, window.start_ns + LengthNs(i, now_ns), true, operations});
    recorded = std::max(recorded, window.recorded);
    before = i;
  }
  return spans;
}

WindowTimes::Place WindowTimes::PlaceOf(uint64_t start_ns) const {
  if (windows_.empty()) return {0, 0};
  const auto newest = static_cast<uint32_t>(windows_.size() - 1);
  const Window& window = windows_.back();
  if (start_ns <= window.start_ns) return {newest, 0};
  auto slice = static_cast<uint32_t>((start_ns - window.start_ns) / kSliceNs);
  if (window.end_ns != 0) slice = std::min(slice, LastSlice(newest, window.end_ns));
  return {newest, slice};
}

uint64_t WindowTimes::LengthNs(uint32_t window, uint64_t now_ns) const {
  const uint64_t end_ns = windows_[window].end_ns != 0 ? windows_[window].end_ns : now_ns;
  return end_ns > windows_[window].start_ns ? end_ns - windows_[window].start_ns : 0;
}

uint32_t WindowTimes::LastSlice(uint32_t window, uint64_t now_ns) const {
  const uint64_t length_ns = LengthNs(window, now_ns);
  return length_ns == 0 ? 0 : static_cast<uint32_t>((length_ns - 1) / kSliceNs);
}

uint32_t WindowTimes::TailSlice(uint32_t window, uint64_t now_ns) const {
  const uint32_t last = LastSlice(window, now_ns);
  if (last == 0) return 0;
  const bool long_enough = LengthNs(window, now_ns) - last * kSliceNs >= kSliceNs / 2;
  return window == 0 && long_enough ? last : last - 1;
}

double WindowTimes::TailNs(uint32_t window, uint64_t now_ns) const {
  return static_cast<double>(LengthNs(window, now_ns) - TailSlice(window, now_ns) * kSliceNs);
}

double WindowTimes::HeadNs(uint32_t window, uint64_t now_ns) const {
  return static_cast<double>(std::min(LengthNs(window, now_ns), kSliceNs));
}

std::optional<WindowTimes::Sides> WindowTimes::SidesOfGap(uint32_t window, uint64_t now_ns) const {
  if (window + 1 >= windows_.size()) return std::nullopt;
  const Gaps gaps = GapsWith(window);
  const auto tail = static_cast<double>(TailOperations(gaps.before, now_ns));
  const auto head = static_cast<double>(windows_[gaps.after].in_head);
  const std::optional<double> operations = ProbableOperations(gaps);
  if (!operations.has_value() || tail <= 0 || head <= 0) return std::nullopt;
  const double trust = gaps.before == 0 ? 0.5 : std::sqrt(tail * head) / (tail + head);
  return Sides{gaps.before, gaps.after, *operations / tail, *operations / head, trust};
}

double WindowTimes::GapWeight(uint32_t window, uint64_t now_ns) const {
  if (window + 1 == windows_.size()) return 0;
  const Gaps gaps = GapsWith(window);
  const uint64_t beside = TailOperations(gaps.before, now_ns) + windows_[gaps.after].in_head;
  const std::optional<double> operations = ProbableOperations(gaps);
  if (operations.has_value() && beside > 0) return *operations / static_cast<double>(beside);
  const double beside_ns = TailNs(window, now_ns) + HeadNs(window + 1, now_ns);
  return beside_ns <= 0 ? 0 : static_cast<double>(GapNs(window)) / beside_ns;
}

}  // namespace utlz
