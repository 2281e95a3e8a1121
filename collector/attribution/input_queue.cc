#include "collector/attribution/input_queue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace utlz::attribution {
namespace {

constexpr int64_t kLongestIntervalNs = int64_t{24} * 3600 * 1'000'000'000;
constexpr int64_t kLongestSampleNs = 10'000'000'000;
// Timestamps beyond 2^62 would overflow differences; no clock in nanoseconds gets there.
constexpr int64_t kLatestNs = int64_t{1} << 62;
// More than any shift between samples and launches.
constexpr int64_t kReachNs = 40'000;
// Write-back goes on after a kernel's end for as long as a full L2 set needs to drain.
constexpr int64_t kTailNs = 2'000;
// Beyond what a double counts exactly, a value is no count.
constexpr double kGreatestCount = 9007199254740992.0;
constexpr int64_t kNever = std::numeric_limits<int64_t>::min() / 4;
// What lies this close to unrecorded work may show in its samples, whatever the shift.
constexpr int64_t kShiftMarginNs = 5'000;
// Stretches without records that are kept; a stream of more joins the last two.
constexpr size_t kMostUntraced = 4096;

}  // namespace

InputQueue::InputQueue(const Options& options)
    : options_(options),
      variants_(options.max_variants),
      last_end_ns_(kNever),
      samples_taken_to_ns_(kNever),
      launches_taken_to_ns_(kNever) {}

void InputQueue::AddInterval(uint64_t variant, IntervalKind kind, int64_t start_ns,
                             int64_t end_ns) {
  if (start_ns == 0 && end_ns == 0) {
    ++quality_.untimed_intervals;
    return;
  }
  if (start_ns < 0 || start_ns > kLatestNs || end_ns <= start_ns ||
      end_ns - start_ns > kLongestIntervalNs || static_cast<size_t>(kind) > 2) {
    ++quality_.invalid_intervals;
    return;
  }
  if (start_ns < launches_taken_to_ns_) {
    ++quality_.late_intervals;
    return;
  }
  if (launches_.size() >= options_.max_pending_intervals) {
    ++quality_.dropped_intervals;
    return;
  }
  launches_.push_back({start_ns, end_ns, end_ns, variants_.IndexOf(variant, kind)});
}

void InputQueue::AddUntraced(int64_t start_ns, int64_t end_ns) {
  start_ns = std::max<int64_t>(start_ns, 0);
  end_ns = std::min(end_ns, kLatestNs);
  if (end_ns <= start_ns) return;
  Untraced added{.start_ns = start_ns, .end_ns = end_ns};
  auto at =
      std::lower_bound(untraced_.begin(), untraced_.end(), start_ns,
                       [](const Untraced& known, int64_t start) { return known.end_ns < start; });
  auto last = at;
  for (; last != untraced_.end() && last->start_ns <= end_ns; ++last) {
    if (last->start_ns <= added.start_ns)
      added = {.start_ns = last->start_ns,
               .end_ns = added.end_ns,
               .unknown_from_ns = last->unknown_from_ns,
               .begun = last->begun};
    if (last->end_ns >= added.end_ns) {
      added.end_ns = last->end_ns;
      added.unknown_to_ns = last->unknown_to_ns;
      added.ended = last->ended;
    }
  }
  at = untraced_.erase(at, last);
  untraced_.insert(at, added);
  if (untraced_.size() <= kMostUntraced) return;
  untraced_[untraced_.size() - 2].end_ns = untraced_.back().end_ns;
  untraced_[untraced_.size() - 2].ended = false;
  untraced_.pop_back();
}

// Many launches may wait for their samples, and this is called with every few that come: only those
// are looked at, and most of them are later than all others.
void InputQueue::SortLaunches() {
  const auto before = [](const Launch& a, const Launch& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns < b.end_ns;
  };
  const auto added = launches_.begin() + static_cast<std::ptrdiff_t>(sorted_launches_);
  sorted_launches_ = launches_.size();
  if (added == launches_.end()) return;
  std::sort(added, launches_.end(), before);
  const auto from = std::upper_bound(launches_.begin(), added, *added, before);
  if (from != added) std::inplace_merge(from, added, launches_.end(), before);
  latest_end_ns_.resize(launches_.size());
  for (auto i = static_cast<size_t>(from - launches_.begin()); i < launches_.size(); ++i) {
    const int64_t earlier_ns = i == 0 ? last_end_ns_ : latest_end_ns_[i - 1];
    latest_end_ns_[i] = std::max(earlier_ns, launches_[i].end_ns);
  }
}

// Finds the recorded launches on either side of every stretch, as far as they are known now, and
// forgets stretches whose samples are done with.
void InputQueue::SettleUntraced(int64_t before_ns) {
  if (untraced_.empty()) return;
  SortLaunches();
  std::erase_if(untraced_, [this](const Untraced& stretch) {
    return stretch.ended && stretch.unknown_to_ns + kReachNs < samples_taken_to_ns_;
  });
  const auto first_from = [this](int64_t time_ns) {
    return std::lower_bound(
        launches_.begin(), launches_.end(), time_ns,
        [](const Launch& launch, int64_t start_ns) { return launch.start_ns < start_ns; });
  };
  for (Untraced& stretch : untraced_) {
    if (!stretch.begun) {
      const auto next = first_from(stretch.start_ns);
      const int64_t last_end_ns =
          next == launches_.begin()
              ? last_end_ns_
              : latest_end_ns_[static_cast<size_t>(next - launches_.begin()) - 1];
      stretch.unknown_from_ns = std::min(stretch.start_ns, last_end_ns);
      stretch.begun = stretch.start_ns <= before_ns;
    }
    if (stretch.ended) continue;
    stretch.unknown_to_ns = std::max(stretch.end_ns, before_ns);
    // Launches that begin within the stretch were under way when it did: they end nothing.
    const auto next = first_from(stretch.end_ns);
    if (next == launches_.end() || next->start_ns >= before_ns) continue;
    stretch.unknown_to_ns = std::max(stretch.end_ns, next->start_ns);
    stretch.ended = stretch.end_ns <= before_ns;
  }
}

bool InputQueue::InUntraced(const Sample& sample) const {
  const auto stretch = std::lower_bound(untraced_.begin(), untraced_.end(), sample.start_ns,
                                        [](const Untraced& known, int64_t start_ns) {
                                          return known.unknown_to_ns + kShiftMarginNs <= start_ns;
                                        });
  return stretch != untraced_.end() && stretch->unknown_from_ns - kShiftMarginNs < sample.end_ns;
}

bool InputQueue::Valid(int64_t start_ns, int64_t end_ns, std::span<const double> values) const {
  if (start_ns < 0 || start_ns > kLatestNs || end_ns <= start_ns ||
      end_ns - start_ns > kLongestSampleNs || values.size() != options_.counters.size()) {
    return false;
  }
  const auto span_ns = static_cast<double>(end_ns - start_ns);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] < 0 || values[i] > kGreatestCount) return false;
    if (values[i] > options_.counters[i].max_per_ns * span_ns) return false;
  }
  return true;
}

void InputQueue::AddSample(int64_t start_ns, int64_t end_ns, std::span<const double> values) {
  if (!Valid(start_ns, end_ns, values)) {
    ++quality_.invalid_samples;
    return;
  }
  if (start_ns < samples_taken_to_ns_) {
    ++quality_.disordered_samples;
    return;
  }
  if (full()) {
    ++quality_.dropped_samples;
    return;
  }
  samples_.push_back({{start_ns, end_ns}, values_.size()});
  values_.insert(values_.end(), values.begin(), values.end());
}

void InputQueue::Take(int64_t watermark_ns, Recording* recording) {
  recording->counters = options_.counters.size();
  const int64_t ready_ns = std::clamp<int64_t>(watermark_ns, 0, kLatestNs) - kReachNs;
  SettleUntraced(ready_ns);
  TakeSamples(ready_ns, recording);
  const int64_t launches_to_ns =
      recording->samples.empty() ? ready_ns : recording->samples.back().end_ns + kReachNs;
  TakeLaunches(std::max(std::min(launches_to_ns, ready_ns + kReachNs), launches_taken_to_ns_),
               recording);
}

// Where samples overlap by much, a clock has jumped: what was counted then may be of either time,
// and so may the launches. Of samples that are the same the first counts.
void InputQueue::MarkContested() {
  const auto same = [this](const PendingSample& a, const PendingSample& b) {
    const auto counters = static_cast<std::ptrdiff_t>(options_.counters.size());
    const auto row = values_.begin() + static_cast<std::ptrdiff_t>(a.row);
    return a.span.start_ns == b.span.start_ns && a.span.end_ns == b.span.end_ns &&
           std::equal(row, row + counters, values_.begin() + static_cast<std::ptrdiff_t>(b.row));
  };
  size_t reaching = 0;  // the sample, of those before, that ends last
  for (size_t i = 1; i < samples_.size(); ++i) {
    PendingSample& before = samples_[reaching];
    PendingSample& sample = samples_[i];
    const int64_t overlap_ns =
        std::min(before.span.end_ns, sample.span.end_ns) - sample.span.start_ns;
    const int64_t shorter_ns = std::min(before.span.end_ns - before.span.start_ns,
                                        sample.span.end_ns - sample.span.start_ns);
    if (4 * overlap_ns > shorter_ns && !same(before, sample)) {
      before.contested = sample.contested = true;
    }
    if (sample.span.end_ns > before.span.end_ns) reaching = i;
  }
}

void InputQueue::TakeSamples(int64_t before_ns, Recording* recording) {
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const PendingSample& a, const PendingSample& b) {
                     return a.span.start_ns < b.span.start_ns;
                   });
  MarkContested();
  std::vector<PendingSample> kept;
  std::vector<double> kept_values;
  const auto counters = static_cast<std::ptrdiff_t>(options_.counters.size());
  for (const PendingSample& sample : samples_) {
    const auto row = values_.begin() + static_cast<std::ptrdiff_t>(sample.row);
    if (sample.span.end_ns > before_ns) {
      kept.push_back({sample.span, kept_values.size(), sample.contested});
      kept_values.insert(kept_values.end(), row, row + counters);
      continue;
    }
    if (sample.contested || sample.span.start_ns < samples_taken_to_ns_) {
      ++quality_.disordered_samples;
      continue;
    }
    const int64_t hole_ns =
        samples_taken_to_ns_ == kNever ? 0 : sample.span.start_ns - samples_taken_to_ns_;
    samples_taken_to_ns_ = sample.span.end_ns;
    if (InUntraced(sample.span)) {
      ++quality_.untraced_samples;
      continue;
    }
    quality_.missing_sample_ns += hole_ns;
    quality_.sampled_ns += sample.span.end_ns - sample.span.start_ns;
    recording->samples.push_back(sample.span);
    recording->values.insert(recording->values.end(), row, row + counters);
    ++quality_.samples;
  }
  samples_ = std::move(kept);
  values_ = std::move(kept_values);
}

void InputQueue::TakeLaunches(int64_t before_ns, Recording* recording) {
  SortLaunches();
  const auto later = std::partition_point(
      launches_.begin(), launches_.end(),
      [before_ns](const Launch& launch) { return launch.start_ns < before_ns; });
  const auto first_new = static_cast<std::ptrdiff_t>(recording->launches.size());
  recording->launches.insert(recording->launches.end(), launches_.begin(), later);
  latest_end_ns_.erase(latest_end_ns_.begin(),
                       latest_end_ns_.begin() + (later - launches_.begin()));
  launches_.erase(launches_.begin(), later);
  sorted_launches_ = launches_.size();
  for (auto launch = recording->launches.begin() + first_new; launch != recording->launches.end();
       ++launch) {
    last_end_ns_ = std::max(last_end_ns_, launch->end_ns);
  }
  launches_taken_to_ns_ = std::max(launches_taken_to_ns_, before_ns);

  const auto begin = recording->launches.begin() + std::max<std::ptrdiff_t>(0, first_new - 1);
  for (auto launch = begin; launch != recording->launches.end(); ++launch) {
    const auto next = launch + 1;
    int64_t tail_end_ns = launch->end_ns + kTailNs;
    if (next != recording->launches.end()) tail_end_ns = std::min(tail_end_ns, next->start_ns);
    launch->tail_end_ns = std::max(launch->end_ns, tail_end_ns);
  }
  quality_.intervals += recording->launches.size() - static_cast<size_t>(first_new);
}

}  // namespace utlz::attribution
