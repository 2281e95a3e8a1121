#include "collector/diagnosis/gap_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "collector/kernel_names/kernel_name.h"

namespace utlz {
namespace {

// A regular place has one gap in each step, give or take what windows cut off.
constexpr double kFewestAStep = 0.6;
constexpr double kMostAStep = 1.4;
// The boundary of steps is the regular place that loses this share of what all of them lose.
constexpr double kMostOfRegular = 0.6;
constexpr double kPlainlyLonger = 1.5;
// Gaps of first calls come in this first part of the steps, and hardly any afterwards.
constexpr double kBeginning = 0.4;
constexpr double kNextToNone = 0.1;
constexpr double kFewestFirstCalls = 3;

void AddGaps(const StretchContent& content, TimeCategory category, GapTotal* sum) {
  sum->gaps += content.Gaps(category);
  sum->time_ns += content.TimeNs(category);
}

std::string ShortName(const RunState& state, uint32_t kernel) {
  return ShortenKernelName(DemangleKernelName(state.kernels[kernel].mangled_name));
}

// A gap of the steps, and how often it counts among them.
struct WeighedGap {
  GapSite site;
  double weight = 0;
};

class PlaceSum {
 public:
  void Add(const WeighedGap& gap, uint64_t beginning_until_ns) {
    const auto length_ns = static_cast<double>(gap.site.end_ns - gap.site.start_ns);
    ++recorded_;
    gaps_ += gap.weight;
    sum_ns_ += gap.weight * length_ns;
    squares_ += gap.weight * length_ns * length_ns;
    first_launch_ns_ += gap.site.first_launch ? gap.weight * length_ns : 0;
    (gap.site.end_ns <= beginning_until_ns ? early_ns_ : late_ns_) += length_ns;
    if (length_ns < longest_ns_) return;
    longest_ns_ = length_ns;
    before_ = gap.site.before;
    after_ = gap.site.after;
  }

  double recorded() const { return recorded_; }
  double gaps() const { return gaps_; }
  double time_ns() const { return sum_ns_; }
  double mean_ns() const { return sum_ns_ / gaps_; }
  // As they were recorded: to be compared with what was traced then.
  double early_ns() const { return early_ns_; }
  double late_ns() const { return late_ns_; }
  double first_launch_ns() const { return first_launch_ns_; }

  GapPlace Describe(const RunState& state) const {
    const double variance = std::max(0.0, squares_ / gaps_ - mean_ns() * mean_ns());
    return {gaps_, sum_ns_, std::sqrt(variance), ShortName(state, before_),
            ShortName(state, after_)};
  }

 private:
  double recorded_ = 0;
  double gaps_ = 0;  // as often as they count, as are the next two and those of first launches
  double sum_ns_ = 0;
  double squares_ = 0;
  double longest_ns_ = 0;
  double first_launch_ns_ = 0;
  double early_ns_ = 0;
  double late_ns_ = 0;
  uint32_t before_ = kNoKernel;
  uint32_t after_ = kNoKernel;
};

using PlaceName = std::pair<std::string, std::string>;

std::vector<WeighedGap> GapsInSteadyPart(const DeviceState& device, const DevicePart& part) {
  std::vector<WeighedGap> gaps;
  for (const GapSite& site : device.gap_sites.gaps()) {
    const double time_ns = part.gap_time.LengthNs(site.start_ns, site.end_ns);
    if (time_ns <= 0) continue;
    gaps.push_back({site, time_ns / static_cast<double>(site.end_ns - site.start_ns)});
  }
  return gaps;
}

// The boundary of steps: the regular place that loses most, if it loses most of what all lose, and
// its gaps are plainly longer than those of places at which several stand in each step: what
// happens there several times in a step is no business of the step's end.
std::optional<PlaceName> BoundaryOf(const std::map<PlaceName, PlaceSum>& places, double steps) {
  double regular_ns = 0;
  double longest_inside_ns = 0;
  const std::pair<const PlaceName, PlaceSum>* most = nullptr;
  for (const auto& place : places) {
    const double a_step = place.second.gaps() / steps;
    if (a_step > kMostAStep) {
      longest_inside_ns = std::max(longest_inside_ns, place.second.mean_ns());
    }
    if (a_step < kFewestAStep || a_step > kMostAStep) continue;
    regular_ns += place.second.time_ns();
    if (most == nullptr || place.second.time_ns() > most->second.time_ns()) most = &place;
  }
  if (most == nullptr || most->second.time_ns() < kMostOfRegular * regular_ns) return std::nullopt;
  if (most->second.mean_ns() < kPlainlyLonger * longest_inside_ns) return std::nullopt;
  return most->first;
}

// The first part of the steps (kBeginning) and the rest, and how much of each was traced: windows
// may be dense at first.
struct Phases {
  uint64_t beginning_until_ns = 0;
  double early_traced_ns = 0;
  double late_traced_ns = 0;
};

double TracedNs(const DeviceState& device, uint64_t start_ns, uint64_t end_ns) {
  DevicePart part;
  part.content = device.ledger.Between(start_ns, end_ns);
  return part.TimeNs();
}

Phases PhasesOf(const DeviceState& device, const StepsSpan& steps) {
  Phases phases;
  const auto span_ns = static_cast<double>(steps.end_ns - steps.start_ns);
  phases.beginning_until_ns = steps.start_ns + static_cast<uint64_t>(kBeginning * span_ns);
  phases.early_traced_ns = TracedNs(device, steps.start_ns, phases.beginning_until_ns);
  phases.late_traced_ns = TracedNs(device, phases.beginning_until_ns, steps.end_ns);
  return phases;
}

// Whether the gaps before one function are those of first calls: they come before kernels that run
// for the first time, or hardly come in the later part of the steps.
bool IsOfFirstCalls(const PlaceSum& before_function, const Phases& phases) {
  if (before_function.recorded() < kFewestFirstCalls) return false;
  if (before_function.first_launch_ns() > before_function.time_ns() / 2) return true;
  if (phases.early_traced_ns <= 0 || phases.late_traced_ns <= 0) return false;
  return before_function.late_ns() / phases.late_traced_ns <
         kNextToNone * before_function.early_ns() / phases.early_traced_ns;
}

struct Divided {
  double between_ns = 0;
  double first_ns = 0;
  double inside_ns = 0;
};

void Keep(const PlaceSum& sum, const RunState& state, GapPlace* place) {
  if (sum.gaps() > 0 && sum.time_ns() > place->time_ns) *place = sum.Describe(state);
}

// `steps`: how many of them `part` is.
Divided Divide(const RunState& state, const DeviceState& device, const DevicePart& part,
               const StepsSpan& span, double steps, GapFacts* facts) {
  std::map<PlaceName, PlaceSum> places;
  std::map<std::string, PlaceSum> by_function;
  const std::vector<WeighedGap> gaps = GapsInSteadyPart(device, part);
  const Phases phases = PhasesOf(device, span);
  const auto place_of = [&state](const WeighedGap& gap) {
    return PlaceName(state.kernels[gap.site.before].mangled_name,
                     state.kernels[gap.site.after].mangled_name);
  };
  for (const WeighedGap& gap : gaps) places[place_of(gap)].Add(gap, phases.beginning_until_ns);
  const std::optional<PlaceName> boundary = BoundaryOf(places, steps);
  for (const WeighedGap& gap : gaps) {
    if (place_of(gap) == boundary) continue;
    by_function[place_of(gap).second].Add(gap, phases.beginning_until_ns);
  }
  Divided divided;
  if (boundary.has_value()) {
    divided.between_ns = places[*boundary].time_ns();
    Keep(places[*boundary], state, &facts->between_steps);
  }
  for (const auto& [function, sum] : by_function) {
    const bool first = IsOfFirstCalls(sum, phases);
    (first ? divided.first_ns : divided.inside_ns) += sum.time_ns();
    Keep(sum, state, first ? &facts->first_calls : &facts->longest_inside);
  }
  return divided;
}

void AddAnswered(const RunState& state, GapFacts* facts) {
  double squares = 0;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    if (!device.used) continue;
    facts->answered.gaps += device.answered_waits.count();
    facts->answered.time_ns += device.answered_waits.time_ns();
    squares += device.answered_waits.squares();
  }
  if (facts->answered.gaps <= 0) return;
  const double mean_ns = facts->answered.time_ns / facts->answered.gaps;
  facts->answered_spread_ns =
      std::sqrt(std::max(0.0, squares / facts->answered.gaps - mean_ns * mean_ns));
}

}  // namespace

GapFacts GatherGaps(const RunState& state, const Analysis& analysis, double step_ns) {
  GapFacts facts;
  AddAnswered(state, &facts);
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    const DevicePart& part = analysis.devices[i].part;
    const StretchContent& content = part.content;
    AddGaps(content, TimeCategory::kTurnaroundGap, &facts.turnaround);
    AddGaps(content, TimeCategory::kLaunchGap, &facts.launch);
    AddGaps(content, TimeCategory::kReadbackGap, &facts.readback);
    AddGaps(content, TimeCategory::kUploadGap, &facts.upload);
    AddGaps(content, TimeCategory::kOtherGap, &facts.other);
    const double other_ns = content.TimeNs(TimeCategory::kOtherGap);
    Divided divided;
    if (analysis.steady.steps.has_value() && step_ns > 0) {
      divided = Divide(state, state.devices[i], part, *analysis.steady.steps,
                       part.TimeNs() / step_ns, &facts);
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
