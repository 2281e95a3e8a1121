#include "collector/timeline/step_finder.h"

#include <algorithm>
#include <map>

namespace utlz {
namespace {

constexpr size_t kFewestSteps = 4;
// Share of a kernel's returns that must come after the same number of launches.
constexpr double kRegularShare = 0.7;
// Share of all launches that the repetitions must cover.
constexpr double kCoveredShare = 0.5;
// Periods of this few launches are kernels repeated by one operation, not steps.
constexpr size_t kShortestPeriod = 4;

// Launches from one occurrence to the next; all of one value but for noise where it is regular.
struct Period {
  size_t launches = 0;
  size_t times = 0;
};

Period CommonPeriod(const std::vector<size_t>& places) {
  std::map<size_t, size_t> times;
  for (size_t i = 1; i < places.size(); ++i) ++times[places[i] - places[i - 1]];
  Period period;
  for (const auto& [launches, count] : times) {
    if (count > period.times) period = {launches, count};
  }
  return period;
}

}  // namespace

std::optional<uint32_t> StepFinder::FindAnchor(const std::vector<Launch>& launches) {
  std::map<uint32_t, std::vector<size_t>> places;
  for (size_t i = 0; i < launches.size(); ++i) places[launches[i].kernel].push_back(i);
  std::optional<uint32_t> anchor;
  size_t longest = kShortestPeriod - 1;
  for (const auto& [kernel, where] : places) {
    if (where.size() < kFewestSteps) continue;
    const Period period = CommonPeriod(where);
    const auto returns = static_cast<double>(where.size() - 1);
    const bool regular = static_cast<double>(period.times) >= kRegularShare * returns;
    const bool covers = static_cast<double>(period.times * period.launches) >=
                        kCoveredShare * static_cast<double>(launches.size());
    if (regular && covers && period.launches > longest) {
      longest = period.launches;
      anchor = kernel;
    }
  }
  return anchor;
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
