#include "collector/timeline/step_finder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace utlz {
namespace {

constexpr size_t kFewestSteps = 4;
// Share of a kernel's returns that must come after about the same number of launches.
constexpr double kRegularShare = 0.7;
// Share of all launches that the repetitions must cover.
constexpr double kCoveredShare = 0.5;
// Periods of this few launches are kernels repeated by one operation, not steps...
constexpr size_t kShortestPeriod = 4;
// ...unless nearly nothing else is launched: then the loop is of these few kernels.
constexpr double kCoveredByFewShare = 0.9;
// Launches of a step differ by this share from one to the next, and are one period all the same.
constexpr double kPeriodTolerance = 0.02;
// Launches by which a longer period must exceed the shorter ones in it, as a share of one of those.
constexpr double kOwnLaunchesShare = 0.002;
constexpr double kFewestOwnLaunches = 0.5;
// In fewer, the inner period is a pass whose gradients are accumulated, and the outer one the step.
constexpr double kFewestStepsInCall = 8;
// Share of a step's launches that its layers must make up.
constexpr double kLayersShare = 0.6;
// Variants of a kernel that steps take turns with, by the alignment of what they work on, say.
constexpr size_t kMostVariants = 16;

// Rounds of unequal length: the share of a kernel's returns that must come after a number of
// launches this near to the median one, and the share of all launches that they must cover.
constexpr double kRoundsTolerance = 0.35;
constexpr double kRoundsShare = 0.9;
// Rounds of fewer launches than the shortest ones times this are the same rounds.
constexpr double kSameRounds = 1.5;

// What comes back after about `launches` launches each time.
struct Repetition {
  LaunchMark mark;
  size_t launches = 0;
  size_t times = 0;  // returns after about that many
  std::vector<size_t> places;
  std::vector<size_t> returns;  // after how many launches, within stretches
};

// Repetitions of about one period, the most regular one first.
struct PeriodGroup {
  std::vector<const Repetition*> repetitions;
  const Repetition& anchor() const { return *repetitions.front(); }
  // The first or the last layer may do without some kernels.
  const Repetition& most_frequent() const {
    return **std::max_element(repetitions.begin(), repetitions.end(),
                              [](const Repetition* a, const Repetition* b) {
                                return a->places.size() < b->places.size();
                              });
  }
};

size_t Tolerance(size_t launches) {
  return static_cast<size_t>(kPeriodTolerance * static_cast<double>(launches));
}

size_t MostFrequent(const std::map<size_t, size_t>& times) {
  return std::max_element(times.begin(), times.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

bool IsPeriodOf(const Repetition& repetition, size_t launches) {
  const size_t apart =
      std::max(launches, repetition.launches) - std::min(launches, repetition.launches);
  return apart <= Tolerance(repetition.launches);
}

std::vector<size_t> ReturnsTo(const std::vector<size_t>& places, const LaunchSequence& launches) {
  std::vector<size_t> returns;
  for (size_t i = 1; i < places.size(); ++i) {
    if (launches.InOneStretch(places[i - 1], places[i])) {
      returns.push_back(places[i] - places[i - 1]);
    }
  }
  return returns;
}

// `returns`: one at least.
Repetition RepetitionOf(const LaunchMark& mark, std::vector<size_t> places,
                        std::vector<size_t> returns) {
  std::map<size_t, size_t> times;
  for (const size_t launches : returns) ++times[launches];
  Repetition repetition{.mark = mark,
                        .launches = MostFrequent(times),
                        .places = std::move(places),
                        .returns = std::move(returns)};
  for (const auto& [launches, count] : times) {
    if (IsPeriodOf(repetition, launches)) repetition.times += count;
  }
  return repetition;
}

// Launches that the repetitions cover: as many as there are returns, and in stretches too short for
// two of them as many as there are marks.
size_t CoveredLaunches(const Repetition& repetition, const LaunchSequence& launches) {
  const auto is_short = [&](size_t place) {
    return launches.StretchAround(place) < 2 * repetition.launches;
  };
  const std::vector<size_t>& places = repetition.places;
  auto periods = static_cast<size_t>(std::count_if(places.begin(), places.end(), is_short));
  for (size_t i = 1; i < places.size(); ++i) {
    const bool returns = launches.InOneStretch(places[i - 1], places[i]) && !is_short(places[i]);
    if (returns && IsPeriodOf(repetition, places[i] - places[i - 1])) ++periods;
  }
  return periods * repetition.launches;
}

bool IsRegular(const Repetition& repetition, const LaunchSequence& launches) {
  const double covered = static_cast<double>(CoveredLaunches(repetition, launches)) /
                         static_cast<double>(launches.size());
  const bool few = repetition.launches < kShortestPeriod;
  return static_cast<double>(repetition.times) >=
             kRegularShare * static_cast<double>(repetition.returns.size()) &&
         covered >= (few ? kCoveredByFewShare : kCoveredShare);
}

// By period, the longest first.
std::vector<PeriodGroup> GroupByPeriod(const std::vector<Repetition>& repetitions) {
  std::vector<const Repetition*> sorted;
  for (const Repetition& repetition : repetitions) sorted.push_back(&repetition);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Repetition* a, const Repetition* b) {
    return a->launches > b->launches;
  });
  std::vector<PeriodGroup> groups;
  for (const Repetition* repetition : sorted) {
    const bool same =
        !groups.empty() && groups.back().repetitions.front()->launches - repetition->launches <=
                               Tolerance(repetition->launches);
    if (!same) groups.emplace_back();
    groups.back().repetitions.push_back(repetition);
  }
  for (PeriodGroup& group : groups) {
    std::stable_sort(group.repetitions.begin(), group.repetitions.end(),
                     [](const Repetition* a, const Repetition* b) {
                       return a->times * b->returns.size() > b->times * a->returns.size();
                     });
  }
  return groups;
}

// Whether `outer` has launches of its own beside the repetitions of `inner` that it holds: then one
// return of `inner` in each period is a longer or a shorter one. Where every second step picks
// another variant of a kernel, each of the two returns after two steps, and all returns of `inner`
// are alike.
bool HasLaunchesOfItsOwn(const Repetition& outer, const Repetition& inner) {
  if (outer.launches > kMostVariants * inner.launches) return true;
  const double tolerance =
      std::max(kFewestOwnLaunches, kOwnLaunchesShare * static_cast<double>(inner.launches));
  size_t different = 0;
  for (const size_t launches : inner.returns) {
    const double more = static_cast<double>(launches) - static_cast<double>(inner.launches);
    if (std::abs(more) > tolerance) ++different;
  }
  return 2 * different >= outer.places.size();
}

// Whether a period is more than each shorter one several times over.
bool IsItsOwn(const std::vector<PeriodGroup>& groups, size_t group) {
  return std::all_of(groups.begin() + static_cast<ptrdiff_t>(group) + 1, groups.end(),
                     [&](const PeriodGroup& inner) {
                       return HasLaunchesOfItsOwn(groups[group].anchor(), inner.anchor());
                     });
}

// Most frequent number of layers in a step: a first step may launch other kernels.
double LayersIn(const Repetition& step, const Repetition& layer) {
  std::map<size_t, size_t> times;
  auto next = layer.places.begin();
  for (size_t i = 1; i < step.places.size(); ++i) {
    const auto begin = std::lower_bound(next, layer.places.end(), step.places[i - 1]);
    next = std::lower_bound(begin, layer.places.end(), step.places[i]);
    ++times[static_cast<size_t>(next - begin)];
  }
  return static_cast<double>(MostFrequent(times));
}

bool MakesUpMostOf(const Repetition& step, const Repetition& layer) {
  return layer.launches >= kShortestPeriod && 2 * layer.launches <= step.launches &&
         LayersIn(step, layer) * static_cast<double>(layer.launches) >=
             kLayersShare * static_cast<double>(step.launches);
}

std::map<LaunchMark, std::vector<size_t>> PlacesOfMarks(const LaunchSequence& launches) {
  std::map<LaunchMark, std::vector<size_t>> places;
  for (size_t i = 0; i < launches.size(); ++i) places[launches.marks()[i]].push_back(i);
  return places;
}

std::vector<Repetition> RegularRepetitions(const LaunchSequence& launches) {
  std::vector<Repetition> repetitions;
  for (auto& [mark, where] : PlacesOfMarks(launches)) {
    std::vector<size_t> returns = ReturnsTo(where, launches);
    if (returns.size() + 1 < kFewestSteps) continue;
    Repetition repetition = RepetitionOf(mark, where, std::move(returns));
    if (IsRegular(repetition, launches)) repetitions.push_back(std::move(repetition));
  }
  return repetitions;
}

// The longest period, and in it others that each make up most of the one before.
std::vector<const PeriodGroup*> NestedPeriods(const std::vector<PeriodGroup>& groups) {
  std::vector<const PeriodGroup*> nested;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!IsItsOwn(groups, i)) continue;
    if (nested.empty() || MakesUpMostOf(nested.back()->anchor(), groups[i].most_frequent())) {
      nested.push_back(&groups[i]);
    }
  }
  return nested;
}

// A kernel that comes back in rounds. `apart`: how far, in the mean, a return is from the median.
struct Rounds {
  LaunchMark mark;
  double launches = 0;  // median
  double apart = 0;
};

// Launches that rounds of so many could cover: before the first and after the last round of a
// stretch there is about one more together.
double LaunchesInRounds(double round, const LaunchSequence& launches) {
  double sum = 0;
  for (const size_t stretch : launches.stretches()) {
    sum += std::max(0.0, static_cast<double>(stretch) - round);
  }
  return sum;
}

std::optional<Rounds> RoundsOf(const LaunchMark& mark, const std::vector<size_t>& places,
                               const LaunchSequence& launches) {
  const std::vector<size_t> counted = ReturnsTo(places, launches);
  if (counted.size() + 1 < 2 * kFewestSteps) return std::nullopt;
  std::vector<double> returns(counted.begin(), counted.end());
  std::sort(returns.begin(), returns.end());
  const double median = returns[returns.size() / 2];
  if (median < static_cast<double>(kShortestPeriod)) return std::nullopt;
  double near = 0;
  double covered = 0;
  double apart = 0;
  for (const double one : returns) {
    apart += std::abs(one - median);
    if (std::abs(one - median) > kRoundsTolerance * median) continue;
    ++near;
    covered += one;
  }
  const auto count = static_cast<double>(returns.size());
  const double coverable = LaunchesInRounds(median, launches);
  if (near < kRoundsShare * count || covered < kRoundsShare * coverable) return std::nullopt;
  return Rounds{mark, median, apart / count};
}

}  // namespace

// The most regular of the kernels that come back in the shortest rounds: two rounds together are as
// much alike.
std::optional<StepFinder::Pattern> StepFinder::FindRounds(const LaunchSequence& launches) {
  std::vector<Rounds> found;
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& [mark, where] : PlacesOfMarks(launches)) {
    const std::optional<Rounds> rounds = RoundsOf(mark, where, launches);
    if (!rounds.has_value()) continue;
    found.push_back(*rounds);
    shortest = std::min(shortest, rounds->launches);
  }
  std::erase_if(found,
                [shortest](const Rounds& one) { return one.launches > kSameRounds * shortest; });
  if (found.empty()) return std::nullopt;
  Pattern pattern;
  pattern.step = std::min_element(found.begin(), found.end(), [](const Rounds& a, const Rounds& b) {
                   return a.apart < b.apart;
                 })->mark;
  return pattern;
}

// The longest period that is more than the next shorter one several times over makes the steps, and
// the next one like it that makes up most of a step its layers. Where that repeats another one
// likewise, and does so often, the longest is a call of many steps.
std::optional<StepFinder::Pattern> StepFinder::FindPattern(const LaunchSequence& launches) {
  const std::vector<Repetition> repetitions = RegularRepetitions(launches);
  const std::vector<PeriodGroup> groups = GroupByPeriod(repetitions);
  std::vector<const PeriodGroup*> nested = NestedPeriods(groups);
  if (nested.empty()) return std::nullopt;
  Pattern pattern;
  if (nested.size() > 2 &&
      LayersIn(nested[0]->anchor(), nested[1]->most_frequent()) >= kFewestStepsInCall) {
    pattern.call = nested[0]->anchor().mark;
    nested.erase(nested.begin());
  }
  const Repetition& step = nested[0]->anchor();
  pattern.step = step.mark;
  if (nested.size() == 1) return pattern;
  const Repetition& layer = nested[1]->most_frequent();
  pattern.layer = layer.mark;
  pattern.layers = LayersIn(step, layer);
  pattern.layer_launches = static_cast<double>(layer.launches);
  return pattern;
}

std::optional<StepFinder::Stream> StepFinder::BusiestStream(const std::vector<Launch>& launches) {
  std::map<Stream, size_t> counts;
  for (const Launch& launch : launches) ++counts[launch.stream];
  if (counts.size() < 2) return std::nullopt;
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

LaunchSequence StepFinder::SequenceOf(const std::vector<Launch>& launches,
                                      const std::optional<Stream>& stream, bool with_before) {
  LaunchSequence sequence;
  uint32_t kernel_before = kNoKernel;
  bool begins_stretch = false;
  for (const Launch& launch : launches) {
    begins_stretch = begins_stretch || launch.after_untraced;
    if (stream.has_value() && launch.stream != *stream) continue;
    if (begins_stretch) kernel_before = kNoKernel;
    LaunchMark mark = {.kernel = launch.kernel};
    if (with_before) mark.kernel_before = kernel_before;
    sequence.Add(mark, begins_stretch);
    kernel_before = launch.kernel;
    begins_stretch = false;
  }
  return sequence;
}

bool StepFinder::Follow(const Pattern& pattern, const Launch& launch, Starts* starts) {
  if (launch.after_untraced && starts->last_kernel.has_value()) starts->last_kernel = kNoKernel;
  if (pattern.stream.has_value() && launch.stream != *pattern.stream) return false;
  const std::optional<uint32_t> before = std::exchange(starts->last_kernel, launch.kernel);
  // The first launch of all may begin a step, too.
  const auto is = [&](const LaunchMark& mark) {
    return mark.kernel == launch.kernel &&
           (!before.has_value() || mark.kernel_before.value_or(*before) == *before);
  };
  if (is(pattern.step)) starts->steps.Add(launch.start_ns);
  if (pattern.call && is(*pattern.call)) starts->calls.Add(launch.start_ns);
  if (pattern.layer && is(*pattern.layer)) starts->layers.Add(launch.start_ns);
  return is(pattern.step);
}

void StepFinder::Add(const Activity& activity) {
  if (activity.kind == ActivityKind::kUntraced) after_untraced_ = true;
  if (activity.kernel == kNoKernel) return;
  const Launch launch = {
      .start_ns = activity.start_ns,
      .duration_ns = activity.end_ns - activity.start_ns,
      .kernel = activity.kernel,
      .stack = activity.stack,
      .stream = {.stream = activity.stream, .context = activity.context, .source = activity.source},
      .after_untraced = std::exchange(after_untraced_, false),
      .of_graph = activity.of_graph};
  if (settled_) {
    if (pattern_.has_value()) Follow(*pattern_, launch, &starts_);
    return;
  }
  searched_.push_back(launch);
  if (searched_.size() < search_launches_) return;
  if (auto found = Found(); found.has_value()) {
    pattern_ = found->first;
    starts_ = std::move(found->second);
    content_ = ContentBy(*pattern_);
  }
  settled_ = true;
  searched_ = {};
}

std::optional<StepFinder::Pattern> StepFinder::SearchPattern() const {
  std::optional<Pattern> pattern = SearchWith(FindPattern);
  return pattern.has_value() ? pattern : SearchWith(FindRounds);
}

std::optional<StepFinder::Pattern> StepFinder::SearchWith(Find find) const {
  std::vector<std::optional<Stream>> streams = {std::nullopt};
  if (const auto busiest = BusiestStream(searched_)) streams.push_back(busiest);
  for (const std::optional<Stream>& stream : streams) {
    for (const bool with_before : {false, true}) {
      auto pattern = find(SequenceOf(searched_, stream, with_before));
      if (!pattern.has_value()) continue;
      pattern->stream = stream;
      return pattern;
    }
  }
  return std::nullopt;
}

std::optional<std::pair<StepFinder::Pattern, StepFinder::Starts>> StepFinder::Found() const {
  if (settled_) {
    if (!pattern_.has_value()) return std::nullopt;
    return std::pair(*pattern_, starts_);
  }
  const std::optional<Pattern> pattern = SearchPattern();
  if (!pattern.has_value()) return std::nullopt;
  Starts starts;
  for (const Launch& launch : searched_) Follow(*pattern, launch, &starts);
  return std::pair(*pattern, std::move(starts));
}

std::optional<StepContent> StepFinder::Content() const {
  if (settled_) return content_;
  const std::optional<Pattern> pattern = SearchPattern();
  return pattern.has_value() ? ContentBy(*pattern) : std::nullopt;
}

std::optional<StepContent> StepFinder::ContentBy(const Pattern& pattern) const {
  if (pattern.call.has_value()) return std::nullopt;
  StepContent content;
  Starts starts;
  bool begun = false;                                    // some step has
  std::optional<std::vector<StepContent::Launch>> step;  // recorded whole so far
  for (const Launch& launch : searched_) {
    if (launch.of_graph) return std::nullopt;
    if (launch.after_untraced) step.reset();
    if (Follow(pattern, launch, &starts)) {
      if (step.has_value()) content.steps.push_back(std::move(*step));
      step.emplace();
      begun = true;
    }
    const StepContent::Launch one = {
        .kernel = launch.kernel, .stack = launch.stack, .duration_ns = launch.duration_ns};
    if (step.has_value()) step->push_back(one);
    if (!begun) content.before_steps.push_back(one);
  }
  return content;
}

std::vector<std::pair<uint64_t, uint64_t>> StepFinder::Steps() const {
  const auto found = Found();
  if (!found.has_value()) return {};
  return found->second.steps.Steps();
}

std::vector<std::pair<uint64_t, uint64_t>> StepFinder::Calls() const {
  const auto found = Found();
  if (!found.has_value()) return {};
  return found->second.calls.Steps();
}

std::optional<StepFinder::Layers> StepFinder::FindLayers() const {
  const auto found = Found();
  if (!found.has_value() || !found->first.layer.has_value()) return std::nullopt;
  return Layers{.in_step = found->first.layers,
                .launches = found->first.layer_launches,
                .times = found->second.layers.Steps()};
}

}  // namespace utlz
