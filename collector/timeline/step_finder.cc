#include "collector/timeline/step_finder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
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
// Variants of a kernel that steps take turns with, by the alignment of what they work on, say.
constexpr size_t kMostVariants = 16;

// A kernel that comes back after about `launches` launches each time.
struct Repetition {
  uint32_t kernel = 0;
  size_t launches = 0;
  size_t times = 0;    // returns after about that many
  size_t returns = 0;  // in all
  std::vector<size_t> places;
};

// Repetitions of about one period, the most regular one first.
struct PeriodGroup {
  std::vector<const Repetition*> kernels;
  const Repetition& anchor() const { return *kernels.front(); }
};

size_t Tolerance(size_t launches) {
  return static_cast<size_t>(kPeriodTolerance * static_cast<double>(launches));
}

size_t MostFrequent(const std::map<size_t, size_t>& times) {
  return std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
           return a.second < b.second;
         })->first;
}

Repetition RepetitionOf(uint32_t kernel, std::vector<size_t> places) {
  std::map<size_t, size_t> times;
  for (size_t i = 1; i < places.size(); ++i) ++times[places[i] - places[i - 1]];
  Repetition repetition{.kernel = kernel,
                        .launches = MostFrequent(times),
                        .returns = places.size() - 1,
                        .places = std::move(places)};
  const size_t tolerance = Tolerance(repetition.launches);
  for (const auto& [launches, count] : times) {
    const size_t apart = std::max(launches, repetition.launches) -
                         std::min(launches, repetition.launches);
    if (apart <= tolerance) repetition.times += count;
  }
  return repetition;
}

bool IsRegular(const Repetition& repetition, size_t all_launches) {
  const double covered = static_cast<double>(repetition.times * repetition.launches) /
                         static_cast<double>(all_launches);
  const bool few = repetition.launches < kShortestPeriod;
  return static_cast<double>(repetition.times) >=
             kRegularShare * static_cast<double>(repetition.returns) &&
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
    const bool same = !groups.empty() && groups.back().kernels.front()->launches -
                                                 repetition->launches <=
                                             Tolerance(repetition->launches);
    if (!same) groups.emplace_back();
    groups.back().kernels.push_back(repetition);
  }
  for (PeriodGroup& group : groups) {
    std::stable_sort(group.kernels.begin(), group.kernels.end(),
                     [](const Repetition* a, const Repetition* b) {
                       return a->times * b->returns > b->times * a->returns;
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
  for (size_t i = 1; i < inner.places.size(); ++i) {
    const auto launches = static_cast<double>(inner.places[i] - inner.places[i - 1]);
    if (std::abs(launches - static_cast<double>(inner.launches)) > tolerance) ++different;
  }
  return 2 * different >= outer.places.size();
}

}  // namespace

// The longest period that is more than the next shorter one several times over.
std::optional<uint32_t> StepFinder::FindAnchor(const std::vector<Launch>& launches) {
  std::map<uint32_t, std::vector<size_t>> places;
  for (size_t i = 0; i < launches.size(); ++i) places[launches[i].kernel].push_back(i);
  std::vector<Repetition> repetitions;
  for (auto& [kernel, where] : places) {
    if (where.size() < kFewestSteps) continue;
    Repetition repetition = RepetitionOf(kernel, std::move(where));
    if (IsRegular(repetition, launches.size())) repetitions.push_back(std::move(repetition));
  }
  const std::vector<PeriodGroup> groups = GroupByPeriod(repetitions);
  for (size_t i = 0; i < groups.size(); ++i) {
    const Repetition& anchor = groups[i].anchor();
    const bool own = std::all_of(
        groups.begin() + static_cast<ptrdiff_t>(i) + 1, groups.end(),
        [&](const PeriodGroup& inner) { return HasLaunchesOfItsOwn(anchor, inner.anchor()); });
    if (own) return anchor.kernel;
  }
  return std::nullopt;
}

void StepFinder::Follow(uint32_t anchor, const Launch& launch, StepStarts* starts) {
  if (launch.kernel == anchor) starts->Add(launch.start_ns);
}

void StepFinder::Add(const Activity& activity) {
  if (activity.kernel == kNoKernel) return;
  const Launch launch = {.start_ns = activity.start_ns, .kernel = activity.kernel};
  if (!settled_) {
    searched_.push_back(launch);
    if (searched_.size() < kSearchLaunches) return;
    settled_ = true;
    anchor_ = FindAnchor(searched_);
    if (anchor_.has_value()) {
      for (const Launch& earlier : searched_) Follow(*anchor_, earlier, &starts_);
    }
    searched_ = {};
    return;
  }
  if (anchor_.has_value()) Follow(*anchor_, launch, &starts_);
}

std::vector<std::pair<uint64_t, uint64_t>> StepFinder::Steps() const {
  if (settled_) return starts_.Steps();
  StepStarts starts;
  const std::optional<uint32_t> anchor = FindAnchor(searched_);
  if (!anchor.has_value()) return {};
  for (const Launch& launch : searched_) Follow(*anchor, launch, &starts);
  return starts.Steps();
}

}  // namespace utlz
