#include "collector/windows/window_gaps.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

// For agents that do not count gaps: the share of the numbers in the run's first window that must
// have records.
constexpr double kLeastNumbersRecorded = 0.95;
// The share of the numbers in the windows beside a gap that must have records. With less, it is not
// known how many of the numbers in the gap were operations.
constexpr double kLeastNumbersSeen = 0.5;
// So few numbers without a record are no operations: one number was seen to pass at a program's
// exit (CUPTI 13.0 and 12.8), and windows may hold few launches.
constexpr double kFewNumbers = 2;
// Bounds records that come out of order: their numbers pass before they are counted.
constexpr uint64_t kMostUnderWay = 16384;
// How many earlier gaps are looked at for one whose operations are not known.
constexpr uint32_t kMostGapsBefore = 64;
// How many gaps with nothing but idle windows between them are taken together, on either side.
constexpr uint32_t kMostGapsTogether = 1024;
// How many gaps are weighed together: few, for phases of a program to stay apart.
constexpr uint32_t kPooledGaps = 16;
// Operations that would begin more often than this cannot have run.
constexpr uint64_t kShortestOperationNs = 50;

}  // namespace

bool WindowGaps::HasRecords(uint32_t window) const {
  const uint64_t before = window == 0 ? 0 : times_[window - 1].recorded;
  return times_[window].recorded > before;
}

WindowGaps::Gaps WindowGaps::GapsWith(uint32_t window) const {
  const auto newest = static_cast<uint32_t>(times_.size() - 1);
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

uint64_t WindowGaps::GapNs(uint32_t window) const {
  const uint64_t end_ns = times_[window].end_ns;
  const uint64_t until_ns = times_[window + 1].start_ns;
  return until_ns > end_ns ? until_ns - end_ns : 0;
}

uint64_t WindowGaps::TimeNs(const Gaps& gaps) const {
  uint64_t time_ns = 0;
  for (uint32_t i = gaps.before; i < gaps.after; ++i) time_ns += GapNs(i);
  return time_ns;
}

// How many of the numbers that passed in the gaps were operations. Some numbers are none, such as
// launches into a capture: the same share is taken to be none as in the windows on both sides.
// Windows further off do not count, since a program may capture thousands of launches in one. Nor
// does the run's first window, in which programs do so.
std::optional<uint64_t> WindowGaps::NumbersIn(const Gaps& gaps) const {
  const WindowTimes::Window& begin = times_[gaps.before == 0 ? 0 : gaps.before - 1];
  const WindowTimes::Window& before = times_[gaps.before];
  const WindowTimes::Window& after = times_[gaps.after];
  if (!begin.in_gaps || !before.in_gaps || !after.in_gaps) return std::nullopt;
  const auto seen = [](const WindowTimes::Window& until) {
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

std::optional<uint64_t> WindowGaps::Operations(const Gaps& gaps) const {
  const WindowTimes::Window& first = times_[0];
  const WindowTimes::Window& before = times_[gaps.before];
  const WindowTimes::Window& after = times_[gaps.after];
  if (before.recorded == 0 || after.recorded <= before.recorded) return std::nullopt;
  const uint64_t possible = TimeNs(gaps) / kShortestOperationNs;
  if (after.in_gaps.has_value()) {
    const std::optional<uint64_t> numbers = NumbersIn(gaps);
    return numbers.has_value() && *numbers <= possible ? numbers : std::nullopt;
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

std::optional<double> WindowGaps::ProbableOperations(const Gaps& gaps) const {
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

std::optional<WindowGaps::Sides> WindowGaps::SidesOf(uint32_t window, uint64_t now_ns) const {
  if (window + 1 >= times_.size()) return std::nullopt;
  const Gaps gaps = GapsWith(window);
  const auto tail = static_cast<double>(times_.TailOperations(gaps.before, now_ns));
  const auto head = static_cast<double>(times_.HeadOperations(gaps.after));
  const std::optional<double> operations = ProbableOperations(gaps);
  if (!operations.has_value() || tail <= 0 || head <= 0) return std::nullopt;
  const double of_one_gap = gaps.before == 0 ? 0.5 : std::sqrt(tail * head) / (tail + head);
  // The tail of a short window is its head too, beside the gap before it: what it happened to meet
  // counts in both gaps, so that their errors add up.
  const auto is_short = [&](uint32_t of) {
    return of > 0 && times_.LengthNs(of, now_ns) <= WindowTimes::kSliceNs;
  };
  const int shared_sides = (is_short(gaps.before) ? 1 : 0) + (is_short(gaps.after) ? 1 : 0);
  const double error_share = of_one_gap * std::sqrt(1 + shared_sides / 2.0);
  return Sides{gaps.before, gaps.after, *operations / tail, *operations / head, error_share};
}

double WindowGaps::Weight(uint32_t window, uint64_t now_ns) const {
  if (window + 1 == times_.size()) return 0;
  const Gaps gaps = GapsWith(window);
  const uint64_t beside =
      times_.TailOperations(gaps.before, now_ns) + times_.HeadOperations(gaps.after);
  const std::optional<double> operations = ProbableOperations(gaps);
  if (operations.has_value() && beside > 0) return *operations / static_cast<double>(beside);
  const uint64_t beside_ns = times_.TailNs(window, now_ns) + times_.HeadNs(window + 1, now_ns);
  return beside_ns == 0 ? 0 : static_cast<double>(GapNs(window)) / static_cast<double>(beside_ns);
}

std::optional<uint32_t> WindowGaps::PoolOf(uint32_t window) const {
  if (window + 1 >= times_.size()) return std::nullopt;
  const Gaps gaps = GapsWith(window);
  if (gaps.before == 0 || !Operations(gaps).has_value()) return std::nullopt;
  return gaps.before / kPooledGaps;
}

double WindowGaps::PoolWeight(uint32_t pool, uint64_t now_ns) const {
  uint64_t operations = 0;
  uint64_t beside = 0;
  const size_t end = std::min<size_t>(times_.size() - 1, (pool + 1) * size_t{kPooledGaps});
  for (uint32_t window = std::max(1u, pool * kPooledGaps); window < end; ++window) {
    if (!HasRecords(window)) continue;
    const Gaps gaps = GapsWith(window);
    const std::optional<uint64_t> counted = Operations(gaps);
    if (!counted.has_value()) continue;
    operations += *counted;
    beside += times_.TailOperations(gaps.before, now_ns) + times_.HeadOperations(gaps.after);
  }
  return beside == 0 ? 0 : static_cast<double>(operations) / static_cast<double>(beside);
}

std::vector<WindowGaps::Stretch> WindowGaps::Stretches() const {
  std::vector<Stretch> stretches;
  uint64_t recorded = 0;
  for (uint32_t i = 0; i + 1 < times_.size(); ++i) {
    const WindowTimes::Window& window = times_[i];
    const uint64_t operations = window.recorded > recorded ? window.recorded - recorded : 0;
    // The last gap, which an empty window ends, holds the program's way out.
    const bool alone = HasRecords(i) && HasRecords(i + 1) && times_.LengthNs(i + 1, UINT64_MAX) > 0;
    stretches.push_back({times_.LengthNs(i, 0), GapNs(i), operations,
                         alone ? Operations({.before = i, .after = i + 1}) : std::nullopt});
    recorded = window.recorded;
  }
  return stretches;
}

std::vector<WindowGaps::Span> WindowGaps::Spans(uint64_t now_ns) const {
  std::vector<Span> spans;
  std::optional<uint32_t> before;
  uint64_t recorded = 0;
  for (uint32_t i = 0; i < times_.size(); ++i) {
    const bool at_an_end = i == 0 || i + 1 == times_.size();
    if (!HasRecords(i) && !at_an_end) continue;
    const WindowTimes::Window& window = times_[i];
    if (before.has_value()) {
      const auto operations =
          times_[*before].ended ? std::nullopt : Operations({.before = *before, .after = i});
      spans.push_back({times_[*before].end_ns, window.start_ns, false, operations});
    }
    const uint64_t operations = window.recorded > recorded ? window.recorded - recorded : 0;
    spans.push_back(
        {window.start_ns, window.start_ns + times_.LengthNs(i, now_ns), true, operations});
    recorded = std::max(recorded, window.recorded);
    before = i;
  }
  return spans;
}

}  // namespace utlz
