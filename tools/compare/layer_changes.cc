#include "tools/compare/layer_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace utlz {
namespace {

using Runs = std::vector<Summary>;
using Key = std::pair<std::string, std::string>;  // model, name
using Times = std::map<Key, double>;              // ns

bool HaveLayers(const Runs& runs) {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const Summary& run) {
    return run.owners().layers_size() > 0;
  });
}

std::vector<Times> TimesOf(const Runs& runs, const std::vector<PerWhat>& units) {
  std::vector<Times> times(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const OwnerSummary& layer : runs[i].owners().layers()) {
      times[i][{layer.model(), layer.name()}] += layer.time_ns() / units[i].divisor;
    }
  }
  return times;
}

// Each as uncertain as the step or run that it is part of.
Estimates Read(const Runs& runs, const std::vector<Times>& times, const Key& key,
               const DiffOptions& options) {
  const double between = runs.size() < 2 ? options.run_to_run_share : 0;
  Estimates estimates;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto found = times[i].find(key);
    const double time_ns = found == times[i].end() ? 0 : found->second;
    estimates.push_back(Estimate{time_ns, time_ns * std::hypot(TimeError(runs[i]), between)});
  }
  return estimates;
}

bool AnyHas(const std::vector<Times>& times, const Key& key) {
  return std::any_of(times.begin(), times.end(),
                     [&](const Times& one) { return one.contains(key); });
}

// As of kernels: a side that has no such layer has no time of it.
Change OnOneSide(const Change& both, Verdict verdict) {
  Change change;
  (verdict == Verdict::kGone ? change.before : change.after) =
      verdict == Verdict::kGone ? both.before : both.after;
  change.verdict = verdict;
  return change;
}

double Moved(const LayerChange& change) {
  return std::abs(change.time_ns.after.value_or(0) - change.time_ns.before.value_or(0));
}

}  // namespace

std::vector<LayerChange> CompareLayers(const CompareInput& sides) {
  if (!HaveLayers(sides.before) || !HaveLayers(sides.after)) return {};
  const std::vector<Times> before = TimesOf(sides.before, sides.units_before);
  const std::vector<Times> after = TimesOf(sides.after, sides.units_after);
  std::set<Key> keys;
  for (const std::vector<Times>* side : {&before, &after}) {
    for (const Times& times : *side) {
      for (const auto& entry : times) keys.insert(entry.first);
    }
  }
  const double least_effect = sides.options.least_share * sides.whole_ns;
  const TestOptions test = sides.Test(static_cast<double>(keys.size()), least_effect);
  std::vector<LayerChange> changes;
  for (const Key& key : keys) {
    LayerChange change{key.first, key.second, {}};
    change.time_ns = CompareEstimates(Read(sides.before, before, key, sides.options),
                                      Read(sides.after, after, key, sides.options), test);
    if (change.time_ns.IsReal() && !AnyHas(before, key)) {
      change.time_ns = OnOneSide(change.time_ns, Verdict::kAppeared);
    } else if (change.time_ns.IsReal() && !AnyHas(after, key)) {
      change.time_ns = OnOneSide(change.time_ns, Verdict::kGone);
    }
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LayerChange& a, const LayerChange& b) { return Moved(a) > Moved(b); });
  return changes;
}

}  // namespace utlz
