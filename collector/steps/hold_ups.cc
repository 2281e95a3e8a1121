#include "collector/steps/hold_ups.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "collector/median.h"

namespace utlz {
namespace {

constexpr size_t kFewestSteps = 8;
// utlz held a slow step up if at least this share of the time that it took longer was idle time,
// and at least this share of that idle time lies in the stretch in which utlz worked.
constexpr double kMostOfIt = 0.5;
// Outside of such stretches, steps must wait like that this much less often.
constexpr double kMoreOften = 4;

struct Usual {
  double length_ns = 0;
  double idle_ns = 0;
};

template <typename Value>
double MedianOf(const std::vector<Step>& steps, size_t first, Value value) {
  std::vector<double> values;
  for (size_t i = first; i < steps.size(); ++i) values.push_back(value(steps[i]));
  return UpperMedian(std::move(values));
}

// For how long nothing ran beyond what is usual, in a step that is slow because of it.
std::optional<double> WaitOf(const Step& step, const Usual& usual) {
  if (step.length_ns() <= kSlowStep * usual.length_ns) return std::nullopt;
  const double wait_ns = step.idle_ns() - usual.idle_ns;
  if (wait_ns < kMostOfIt * (step.length_ns() - usual.length_ns)) return std::nullopt;
  return wait_ns;
}

// The part of a step in which utlz worked, and for how long nothing ran there beyond the usual.
HoldUp PartOf(const FoundSteps& found, const Step& step, const CounterSettings::Stretch& stretch,
              const Usual& usual) {
  HoldUp part = {.start_ns = std::max(step.start_ns, stretch.start_ns),
                 .end_ns = std::min(step.end_ns, stretch.end_ns)};
  if (part.end_ns <= part.start_ns) return {};
  const auto length_ns = static_cast<double>(part.end_ns - part.start_ns);
  const double usual_ns = usual.idle_ns * std::min(1.0, length_ns / usual.length_ns);
  const double idle_ns = found.ledger().Between(part.start_ns, part.end_ns).IdleNs();
  part.time_ns = std::max(0.0, idle_ns - usual_ns);
  return part;
}

using Stretches = std::vector<CounterSettings::Stretch>;

// Those of one kind, in order, those that overlap as one: a step is in few of them.
Stretches InOrder(const Stretches& all, bool setting) {
  Stretches sorted;
  std::copy_if(all.begin(), all.end(), std::back_inserter(sorted),
               [setting](const CounterSettings::Stretch& one) {
                 return one.setting == setting && one.start_ns < one.end_ns;
               });
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  Stretches merged;
  for (const CounterSettings::Stretch& one : sorted) {
    if (merged.empty() || one.start_ns > merged.back().end_ns) {
      merged.push_back(one);
    } else {
      merged.back().end_ns = std::max(merged.back().end_ns, one.end_ns);
    }
  }
  return merged;
}

Stretches Overlapping(const Step& step, const Stretches& in_order) {
  auto at = std::partition_point(
      in_order.begin(), in_order.end(),
      [&step](const CounterSettings::Stretch& one) { return one.end_ns <= step.start_ns; });
  Stretches found;
  for (; at != in_order.end() && at->start_ns < step.end_ns; ++at) found.push_back(*at);
  return found;
}

struct Suspect {
  size_t step = 0;
  HoldUp part;
  bool setting = false;
};

// How often steps wait, of those in the stretches of one kind and of the others.
struct Counts {
  double inside = 0;
  double slow_inside = 0;
  double outside = 0;
  double slow_outside = 0;

  bool Speaks() const {
    return slow_inside > 0 && slow_inside * outside >= kMoreOften * slow_outside * inside;
  }
};

// Where in the step most of its wait was, if utlz worked there.
std::optional<Suspect> SuspectOf(const FoundSteps& found, size_t index, double wait_ns,
                                 const Stretches& stretches, const Usual& usual) {
  for (const CounterSettings::Stretch& stretch : stretches) {
    Suspect suspect = {.step = index,
                       .part = PartOf(found, found.steps[index], stretch, usual),
                       .setting = stretch.setting};
    if (suspect.part.time_ns < kMostOfIt * wait_ns) continue;
    suspect.part.time_ns = std::min(suspect.part.time_ns, wait_ns);
    return suspect;
  }
  return std::nullopt;
}

std::vector<Suspect> SuspectsOf(const FoundSteps& found, size_t warmup, const Usual& usual) {
  const Stretches all = found.device->counter_settings.Stretches();
  const Stretches settings = InOrder(all, true);
  const Stretches other_sets = InOrder(all, false);
  std::vector<Suspect> suspects;
  Counts counts;
  for (size_t i = warmup; i < found.steps.size(); ++i) {
    const Step& step = found.steps[i];
    const Stretches set = Overlapping(step, settings);
    const Stretches other_set = Overlapping(step, other_sets);
    const auto wait_ns = WaitOf(step, usual);
    std::optional<Suspect> best;
    if (wait_ns.has_value()) best = SuspectOf(found, i, *wait_ns, set, usual);
    if (wait_ns.has_value() && !best.has_value()) {
      best = SuspectOf(found, i, *wait_ns, other_set, usual);
    }
    (set.empty() && other_set.empty() ? counts.outside : counts.inside) += 1;
    if (best.has_value()) {
      ++counts.slow_inside;
      suspects.push_back(*best);
    } else if (wait_ns.has_value()) {
      ++counts.slow_outside;
    }
  }
  if (!counts.Speaks()) suspects.clear();
  return suspects;
}

}  // namespace

std::vector<HoldUp> FindHoldUps(size_t warmup, FoundSteps* found) {
  std::vector<HoldUp> hold_ups;
  if (found->device == nullptr || found->steps.size() < warmup + kFewestSteps) return hold_ups;
  const Usual usual = {
      .length_ns =
          MedianOf(found->steps, warmup, [](const Step& step) { return step.length_ns(); }),
      .idle_ns = MedianOf(found->steps, warmup, [](const Step& step) { return step.idle_ns(); })};
  if (usual.length_ns <= 0) return hold_ups;
  for (const Suspect& suspect : SuspectsOf(*found, warmup, usual)) {
    Step& step = found->steps[suspect.step];
    step.stall_ns += suspect.part.time_ns;
    step.held_up_by =
        suspect.setting ? "utlz set the GPU's counters" : "utlz had other counters set than usual";
    hold_ups.push_back(suspect.part);
  }
  return hold_ups;
}

}  // namespace utlz
