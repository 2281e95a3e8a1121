#include "collector/diagnosis/gap_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "collector/kernel_names/kernel_name.h"

namespace utlz {
namespace {

// A place of which there is one gap in each step, give or take what windows cut off.
constexpr double kFewestAStep = 0.6;
constexpr double kMostAStep = 1.4;
// The steps' boundary is the place with most of what is lost at such places.
constexpr double kMostOfRegular = 0.6;
// A place whose gaps all lie in this first part of the steps is one of beginnings.
constexpr double kBeginning = 0.4;
constexpr size_t kFewestFirstCalls = 3;

void AddGaps(const StretchContent& content, TimeCategory category, GapTotal* sum) {
  sum->gaps += content.Gaps(category);
  sum->time_ns += content.TimeNs(category);
}

std::string ShortName(const ModelState& model, uint32_t kernel) {
  return ShortenKernelName(DemangleKernelName(model.kernels[kernel].mangled_name));
}

class PlaceSum {
 public:
  void Add(const GapSite& gap) {
    const auto length_ns = static_cast<double>(gap.end_ns - gap.start_ns);
    ++gaps_;
    sum_ns_ += length_ns;
    squares_ += length_ns * length_ns;
    last_ns_ = std::max(last_ns_, gap.end_ns);
    first_launches_ += gap.first_launch ? 1 : 0;
    if (length_ns < longest_ns_) return;
    longest_ns_ = length_ns;
    before_ = gap.before;
    after_ = gap.after;
  }

  double gaps() const { return gaps_; }
  double time_ns() const { return sum_ns_; }
  uint64_t last_ns() const { return last_ns_; }
  double first_launches() const { return first_launches_; }

  GapPlace Describe(const ModelState& model) const {
    const double mean_ns = sum_ns_ / gaps_;
    const double variance = std::max(0.0, squares_ / gaps_ - mean_ns * mean_ns);
    return {gaps_, sum_ns_, std::sqrt(variance), ShortName(model, before_),
            ShortName(model, after_)};
  }

 private:
  double gaps_ = 0;
  double sum_ns_ = 0;
  double squares_ = 0;
  double longest_ns_ = 0;
  double first_launches_ = 0;
  uint64_t last_ns_ = 0;
  uint32_t before_ = kNoKernel;
  uint32_t after_ = kNoKernel;
};

using PlaceName = std::pair<std::string, std::string>;

std::vector<GapSite> GapsInSteadyPart(const DeviceState& device, const SteadyPart& steady) {
  std::vector<GapSite> gaps;
  for (const GapSite& gap : device.gap_sites.gaps()) {
    if (steady.steps.has_value()) {
      if (gap.start_ns < steady.steps->start_ns || gap.end_ns > steady.steps->end_ns) continue;
      const LongGap as_pause = {gap.start_ns, gap.end_ns, TimeCategory::kOtherGap};
      if (IsPause(device, *steady.steps, as_pause)) continue;
    }
    gaps.push_back(gap);
  }
  return gaps;
}

// The place that comes once in each step, if most of what is lost at such places is lost there.
std::optional<PlaceName> BoundaryOf(const std::map<PlaceName, PlaceSum>& places, double steps) {
  double regular_ns = 0;
  const std::pair<const PlaceName, PlaceSum>* most = nullptr;
  for (const auto& place : places) {
    const double a_step = place.second.gaps() / steps;
    if (a_step < kFewestAStep || a_step > kMostAStep) continue;
    regular_ns += place.second.time_ns();
    if (most == nullptr || place.second.time_ns() > most->second.time_ns()) most = &place;
  }
  if (most == nullptr || most->second.time_ns() < kMostOfRegular * regular_ns) return std::nullopt;
  return most->first;
}

// Gaps before one function that stand before what runs for the first time, or that no longer come
// once the steps have gone on for a while.
bool IsOfFirstCalls(const PlaceSum& before_function, const SteadyPart& steady) {
  if (before_function.gaps() < kFewestFirstCalls) return false;
  if (before_function.first_launches() > before_function.gaps() / 2) return true;
  const double span_ns = static_cast<double>(steady.steps->end_ns - steady.steps->start_ns);
  const double last_ns = static_cast<double>(before_function.last_ns() - steady.steps->start_ns);
  return last_ns < kBeginning * span_ns;
}

struct Divided {
  double between_ns = 0;
  double first_ns = 0;
  double inside_ns = 0;
};

void Keep(const PlaceSum& sum, const ModelState& model, GapPlace* place) {
  if (sum.gaps() > 0 && sum.time_ns() > place->time_ns) *place = sum.Describe(model);
}

Divided Divide(const ModelState& model, const DeviceState& device, const SteadyPart& steady,
               double steps, GapFacts* facts) {
  std::map<PlaceName, PlaceSum> places;
  std::map<std::string, PlaceSum> by_function;
  const std::vector<GapSite> gaps = GapsInSteadyPart(device, steady);
  const auto place_of = [&model](const GapSite& gap) {
    return PlaceName(model.kernels[gap.before].mangled_name, model.kernels[gap.after].mangled_name);
  };
  for (const GapSite& gap : gaps) places[place_of(gap)].Add(gap);
  const std::optional<PlaceName> boundary = BoundaryOf(places, steps);
  for (const GapSite& gap : gaps) {
    if (place_of(gap) != boundary) by_function[place_of(gap).second].Add(gap);
  }
  Divided divided;
  if (boundary.has_value()) {
    divided.between_ns = places[*boundary].time_ns();
    Keep(places[*boundary], model, &facts->between_steps);
  }
  for (const auto& [function, sum] : by_function) {
    const bool first = IsOfFirstCalls(sum, steady);
    (first ? divided.first_ns : divided.inside_ns) += sum.time_ns();
    Keep(sum, model, first ? &facts->first_calls : &facts->longest_inside);
  }
  return divided;
}

}  // namespace

GapFacts GatherGaps(const ModelState& model, const Analysis& analysis, double steps) {
  GapFacts facts;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    if (!model.devices[i].used) continue;
    const StretchContent& content = analysis.devices[i].part.content;
    AddGaps(content, TimeCategory::kLaunchGap, &facts.launch);
    AddGaps(content, TimeCategory::kReadbackGap, &facts.readback);
    AddGaps(content, TimeCategory::kUploadGap, &facts.upload);
    AddGaps(content, TimeCategory::kOtherGap, &facts.other);
    const double other_ns = content.TimeNs(TimeCategory::kOtherGap);
    Divided divided;
    if (analysis.steady.steps.has_value() && steps > 0) {
      divided = Divide(model, model.devices[i], analysis.steady, steps, &facts);
    }
    // What tracing itself was measured to add is out of `other` already.
    const double sum_ns = divided.between_ns + divided.first_ns + divided.inside_ns;
    const double scale = sum_ns > 0 ? other_ns / sum_ns : 0;
    facts.between_steps_ns += scale * divided.between_ns;
    facts.first_calls_ns += scale * divided.first_ns;
    facts.inside_ns += sum_ns > 0 ? scale * divided.inside_ns : other_ns;
  }
  return facts;
}

}  // namespace utlz
