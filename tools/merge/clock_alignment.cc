#include "tools/merge/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "collector/median.h"

namespace utlz {
namespace {

// A stretch of consecutive collectives is compared with everything on the other side; several
// stretches, since what is traced in windows may be missing there.
constexpr size_t kStretch = 64;
constexpr size_t kStretches = 8;
constexpr size_t kLeastPairs = 8;
constexpr size_t kMaxComparisons = 20'000;  // of one collective
constexpr double kMeetingNs = 40e3;         // ends of one collective lie closer than this
// Another shift at which so many as well meet is a rival; it is the worse one if its ends lie this
// much further apart.
constexpr double kRivalShare = 0.8;
constexpr double kClearlyTighter = 2;
constexpr double kFastestDrift = 100e-6;
constexpr size_t kMostNeighbours = 256;  // looked at for the nearest
constexpr size_t kFollowed = 15;         // pairs whose median shift the next one is looked for at
constexpr double kLeastErrorNs = 1e3;    // of CUPTI's own conversion of times
constexpr double kMostImpossible = 0.02;

// Standard deviation of a normal distribution with the same median distance from `center`.
double Scatter(const std::vector<double>& values, double center) {
  std::vector<double> distance;
  distance.reserve(values.size());
  for (const double value : values) distance.push_back(std::abs(value - center));
  return 1.4826 * UpperMedian(std::move(distance));
}

double Difference(uint64_t later, uint64_t earlier) {
  return static_cast<double>(static_cast<int64_t>(later - earlier));
}

// Where in `side` ends `ns` or later come first.
size_t FirstAtOrAfter(const std::vector<Collective>& side, double ns) {
  const auto found = std::lower_bound(
      side.begin(), side.end(), ns,
      [](const Collective& one, double limit) { return static_cast<double>(one.end_ns) < limit; });
  return static_cast<size_t>(found - side.begin());
}

struct Candidate {
  double shift_ns = 0;
  double scatter_ns = 0;
  size_t meetings = 0;
};

// All shifts at which one of the stretch meets one of the same name.
std::vector<double> PossibleShifts(std::span<const Collective> stretch,
                                   const std::vector<Collective>& b, double largest_shift_ns) {
  std::vector<double> shifts;
  for (const Collective& one : stretch) {
    const double end_ns = static_cast<double>(one.end_ns);
    const size_t first = FirstAtOrAfter(b, end_ns - largest_shift_ns);
    const size_t last = FirstAtOrAfter(b, end_ns + largest_shift_ns);
    const size_t center = FirstAtOrAfter(b, end_ns);
    const size_t from = std::max(first, center - std::min(center, kMaxComparisons / 2));
    const size_t to = std::min(last, center + kMaxComparisons / 2);
    for (size_t i = from; i < to; ++i) {
      if (b[i].name == one.name) shifts.push_back(Difference(b[i].end_ns, one.end_ns));
    }
  }
  std::sort(shifts.begin(), shifts.end());
  return shifts;
}

Candidate MakeCandidate(const std::vector<double>& shifts, size_t begin, size_t end) {
  std::vector<double> inside(shifts.begin() + static_cast<ptrdiff_t>(begin),
                             shifts.begin() + static_cast<ptrdiff_t>(end));
  const double shift_ns = UpperMedian(inside);
  return {shift_ns, Scatter(inside, shift_ns), end - begin};
}

// The fullest places of a sorted list, none within kMeetingNs of a fuller one; fullest first.
std::vector<Candidate> FullestPlaces(const std::vector<double>& shifts, size_t least) {
  std::vector<std::pair<size_t, size_t>> places;  // (meetings, first index)
  size_t end = 0;
  for (size_t begin = 0; begin < shifts.size(); ++begin) {
    while (end < shifts.size() && shifts[end] - shifts[begin] <= kMeetingNs) ++end;
    if (end - begin >= least) places.emplace_back(end - begin, begin);
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<Candidate> candidates;
  for (const auto& [meetings, begin] : places) {
    constexpr size_t kMaxCandidates = 64;
    if (candidates.size() >= kMaxCandidates) break;
    // The median, the shifts being sorted: seen before the work that a candidate takes.
    const double shift_ns = shifts[begin + meetings / 2];
    const bool apart = std::all_of(candidates.begin(), candidates.end(), [&](const Candidate& one) {
      return std::abs(one.shift_ns - shift_ns) > 2 * kMeetingNs;
    });
    if (apart) candidates.push_back(MakeCandidate(shifts, begin, begin + meetings));
  }
  return candidates;
}

struct Coarse {
  Candidate best;
  size_t anchor = 0;  // first of the stretch in a
  std::optional<double> other_shift_ns;
};

// Among the shifts at which about as many meet, the tightest; where that does not decide either,
// the smallest, since clocks are mostly kept by NTP.
Coarse Choose(std::vector<Candidate> candidates, size_t anchor) {
  const double enough = kRivalShare * static_cast<double>(candidates[0].meetings);
  std::erase_if(candidates,
                [&](const Candidate& one) { return static_cast<double>(one.meetings) < enough; });
  const auto scatter = [](const Candidate& one) { return std::max(one.scatter_ns, kLeastErrorNs); };
  const double tightest = scatter(*std::min_element(
      candidates.begin(), candidates.end(),
      [&](const Candidate& x, const Candidate& y) { return scatter(x) < scatter(y); }));
  std::erase_if(candidates,
                [&](const Candidate& one) { return scatter(one) > kClearlyTighter * tightest; });
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return std::abs(x.shift_ns) < std::abs(y.shift_ns);
  });
  Coarse coarse{candidates[0], anchor, std::nullopt};
  for (const Candidate& rival : candidates) {
    const double distance = std::abs(rival.shift_ns - coarse.best.shift_ns);
    if (distance == 0) continue;
    if (!coarse.other_shift_ns ||
        distance < std::abs(*coarse.other_shift_ns - coarse.best.shift_ns)) {
      coarse.other_shift_ns = rival.shift_ns;
    }
  }
  return coarse;
}

std::optional<Coarse> FindCoarse(const std::vector<Collective>& a, const std::vector<Collective>& b,
                                 const ClockAlignmentOptions& options) {
  std::optional<Coarse> best;
  const size_t stretch = std::min(kStretch, a.size());
  for (size_t i = 0; i < kStretches; ++i) {
    const size_t anchor = (a.size() - stretch) * i / (kStretches - 1);
    const std::span<const Collective> part(a.data() + anchor, stretch);
    const std::vector<Candidate> candidates = FullestPlaces(
        PossibleShifts(part, b, options.largest_shift_ns), std::max(kLeastPairs, stretch / 4));
    if (candidates.empty()) continue;
    const Coarse coarse = Choose(candidates, anchor);
    const bool clearer = !best || coarse.best.meetings > best->best.meetings ||
                         (best->other_shift_ns && !coarse.other_shift_ns);
    if (clearer) best = coarse;
    const bool beyond_doubt =
        !coarse.other_shift_ns &&
        static_cast<double>(coarse.best.meetings) >= kRivalShare * static_cast<double>(stretch);
    if (beyond_doubt) break;
    if (a.size() == stretch) break;
  }
  return best;
}

struct Pair {
  double a_ns;      // a's end
  double shift_ns;  // b's end less a's
  double least_ns;  // b's clock is at least and at most this far ahead, whatever the ends do
  double most_ns;
};

// Goes from pair to pair, looking for the next one where the last ones were.
class Follower {
 public:
  Follower(const std::vector<Collective>& b, const Candidate& start, double start_ns)
      : b_(b),
        tolerance_ns_(kMeetingNs + 5 * start.scatter_ns),
        last_ns_(start_ns),
        recent_(1, start.shift_ns) {}

  std::optional<Pair> Follow(const Collective& one) {
    const double end_ns = static_cast<double>(one.end_ns);
    const double expected = UpperMedian(recent_);
    const double tolerance = tolerance_ns_ + kFastestDrift * std::abs(end_ns - last_ns_);
    const Collective* nearest = nullptr;
    double distance = tolerance;
    const size_t center = FirstAtOrAfter(b_, end_ns + expected);
    const size_t first = std::max(FirstAtOrAfter(b_, end_ns + expected - tolerance),
                                  center - std::min(center, kMostNeighbours / 2));
    const size_t last = std::min(b_.size(), center + kMostNeighbours / 2);
    for (size_t i = first; i < last; ++i) {
      if (static_cast<double>(b_[i].end_ns) > end_ns + expected + tolerance) break;
      const double off = std::abs(Difference(b_[i].end_ns, one.end_ns) - expected);
      if (b_[i].name != one.name || off > distance) continue;
      nearest = &b_[i];
      distance = off;
    }
    if (nearest == nullptr) return std::nullopt;
    const Pair pair = {end_ns, Difference(nearest->end_ns, one.end_ns),
                       Difference(nearest->start_ns, one.end_ns),
                       Difference(nearest->end_ns, one.start_ns)};
    last_ns_ = end_ns;
    if (recent_.size() >= kFollowed) recent_.erase(recent_.begin());
    recent_.push_back(pair.shift_ns);
    return pair;
  }

 private:
  const std::vector<Collective>& b_;
  double tolerance_ns_;
  double last_ns_;
  std::vector<double> recent_;
};

std::vector<Pair> FollowBothWays(const std::vector<Collective>& a, const std::vector<Collective>& b,
                                 const Coarse& coarse) {
  const double anchor_ns = static_cast<double>(a[coarse.anchor].end_ns);
  std::vector<Pair> pairs;
  Follower back(b, coarse.best, anchor_ns);
  for (size_t i = coarse.anchor; i-- > 0;) {
    if (const auto pair = back.Follow(a[i])) pairs.push_back(*pair);
  }
  std::reverse(pairs.begin(), pairs.end());
  Follower forth(b, coarse.best, anchor_ns);
  for (size_t i = coarse.anchor; i < a.size(); ++i) {
    if (const auto pair = forth.Follow(a[i])) pairs.push_back(*pair);
  }
  return pairs;
}

// Median slope between the medians of blocks: a few wrong pairs do not bend it.
double DriftOf(const std::vector<Pair>& pairs) {
  constexpr size_t kBlocks = 32;
  std::vector<std::pair<double, double>> blocks;
  for (size_t block = 0; block < kBlocks; ++block) {
    const size_t begin = pairs.size() * block / kBlocks;
    const size_t end = pairs.size() * (block + 1) / kBlocks;
    if (begin == end) continue;
    std::vector<double> times, shifts;
    for (size_t i = begin; i < end; ++i) {
      times.push_back(pairs[i].a_ns);
      shifts.push_back(pairs[i].shift_ns);
    }
    blocks.emplace_back(UpperMedian(times), UpperMedian(shifts));
  }
  std::vector<double> slopes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t k = i + 1; k < blocks.size(); ++k) {
      const double time = blocks[k].first - blocks[i].first;
      if (time > 0) slopes.push_back((blocks[k].second - blocks[i].second) / time);
    }
  }
  return slopes.empty() ? 0 : UpperMedian(std::move(slopes));
}

void Fit(const std::vector<Pair>& pairs, ClockShift* result) {
  const double first = pairs.front().a_ns;
  const double last = pairs.back().a_ns;
  result->middle_ns = first + (last - first) / 2;
  result->span_ns = last - first;
  result->pairs = pairs.size();
  result->drift = DriftOf(pairs);
  std::vector<double> level;
  const auto measure = [&] {
    level.clear();
    for (const Pair& pair : pairs) {
      level.push_back(pair.shift_ns - result->drift * (pair.a_ns - result->middle_ns));
    }
    result->shift_ns = UpperMedian(level);
    result->error_ns = std::hypot(Scatter(level, result->shift_ns), kLeastErrorNs);
  };
  measure();
  // What lies within the scatter is no drift that was seen.
  if (std::abs(result->drift) * result->span_ns < result->error_ns) {
    result->drift = 0;
    measure();
  }
}

// No collective ends before it has begun everywhere, so each pair bounds the shift on both sides.
bool IsPossible(const std::vector<Pair>& pairs, const ClockShift& shift) {
  size_t impossible = 0;
  for (const Pair& pair : pairs) {
    const double at = shift.At(pair.a_ns);
    const double slack = 3 * shift.error_ns;
    impossible += at < pair.least_ns - slack || at > pair.most_ns + slack;
  }
  return static_cast<double>(impossible) <= kMostImpossible * static_cast<double>(pairs.size());
}

}  // namespace

std::optional<ClockShift> AlignClocks(const std::vector<Collective>& a,
                                      const std::vector<Collective>& b,
                                      const ClockAlignmentOptions& options) {
  if (a.size() < kLeastPairs || b.size() < kLeastPairs) return std::nullopt;
  const std::optional<Coarse> coarse = FindCoarse(a, b, options);
  if (!coarse) return std::nullopt;
  const std::vector<Pair> pairs = FollowBothWays(a, b, *coarse);
  if (pairs.size() < kLeastPairs) return std::nullopt;
  ClockShift shift;
  Fit(pairs, &shift);
  shift.other_shift_ns = coarse->other_shift_ns;
  if (!IsPossible(pairs, shift)) return std::nullopt;
  return shift;
}

}  // namespace utlz
