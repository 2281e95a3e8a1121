#include "tools/compare/layer_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/layer_pattern.h"

namespace utlz {
namespace {

using Runs = std::vector<Summary>;
using Key = std::pair<std::string, std::string>;  // model, name
using Keys = std::set<Key>;
using Times = std::map<Key, double>;  // ns, of one run

bool HaveLayers(const Runs& runs) {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const Summary& run) {
    return run.owners().layers_size() > 0;
  });
}

// One side of the comparison.
struct Side {
  const Runs& runs;
  double between_share;      // by which runs differ, where one run cannot show it
  std::vector<Times> times;  // one a run

  bool Has(const Key& key) const {
    return std::any_of(times.begin(), times.end(),
                       [&](const Times& one) { return one.contains(key); });
  }
};

Side SideOf(const Runs& runs, const std::vector<PerWhat>& units, const DiffOptions& options) {
  Side side{runs, runs.size() < 2 ? options.run_to_run_share : 0, {}};
  for (size_t i = 0; i < runs.size(); ++i) {
    Times& times = side.times.emplace_back();
    for (const OwnerSummary& layer : runs[i].owners().layers()) {
      times[{layer.model(), layer.name()}] += layer.time_ns() / units[i].divisor;
    }
  }
  return side;
}

double TimeNs(const Times& times, const Key& key) {
  const auto found = times.find(key);
  return found == times.end() ? 0 : found->second;
}

// The time of these layers together, as uncertain as the step or run that it is part of.
Estimates SumOf(const Side& side, const Keys& keys) {
  Estimates estimates;
  for (size_t i = 0; i < side.runs.size(); ++i) {
    double time_ns = 0;
    for (const Key& key : keys) time_ns += TimeNs(side.times[i], key);
    const double error = time_ns * std::hypot(TimeError(side.runs[i]), side.between_share);
    estimates.push_back(Estimate{time_ns, error});
  }
  return estimates;
}

double MeanNs(const Side& side, const Key& key) {
  double sum_ns = 0;
  for (const Times& times : side.times) sum_ns += TimeNs(times, key);
  return sum_ns / static_cast<double>(side.times.size());
}

Estimates Scaled(Estimates estimates, double factor) {
  for (auto& estimate : estimates) {
    estimate->value *= factor;
    estimate->error *= factor;
  }
  return estimates;
}

// Of after over before, the median of the layers that are on the side before.
std::optional<double> UsualRatio(const Side& before, const Side& after, const Keys& keys) {
  std::vector<double> ratios;
  for (const Key& key : keys) {
    const double before_ns = MeanNs(before, key);
    if (before_ns > 0) ratios.push_back(MeanNs(after, key) / before_ns);
  }
  if (ratios.empty()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  const size_t middle = ratios.size() / 2;
  return ratios.size() % 2 == 1 ? ratios[middle] : (ratios[middle - 1] + ratios[middle]) / 2;
}

// As of kernels: a side that has no such layer has no time of it.
Change OnOneSide(const Change& both, Verdict verdict) {
  Change change;
  (verdict == Verdict::kGone ? change.before : change.after) =
      verdict == Verdict::kGone ? both.before : both.after;
  change.verdict = verdict;
  return change;
}

double Moved(const Change& time_ns) {
  return std::abs(time_ns.after.value_or(0) - time_ns.before.value_or(0));
}

template <typename Changes>
void SortByMoved(Changes* changes) {
  std::stable_sort(changes->begin(), changes->end(), [](const auto& a, const auto& b) {
    return Moved(a.time_ns) > Moved(b.time_ns);
  });
}

// Models in which numbers at the end of names count as numbers: a report of such a model sums its
// layers as "block_*".
std::set<std::string> ModelsWithNumberedNames(const CompareInput& sides) {
  std::set<std::string> models;
  for (const Runs* runs : {&sides.before, &sides.after}) {
    for (const Summary& run : *runs) {
      for (const OwnerSummary& layer : run.owners().repeated_layers()) {
        if (layer.name().find("_*") != std::string::npos) models.insert(layer.model());
      }
    }
  }
  return models;
}

class LayerComparison {
 public:
  explicit LayerComparison(const CompareInput& sides)
      : sides_(sides),
        before_(SideOf(sides.before, sides.units_before, sides.options)),
        after_(SideOf(sides.after, sides.units_after, sides.options)),
        numbered_models_(ModelsWithNumberedNames(sides)) {
    for (const Side* side : {&before_, &after_}) {
      for (const Times& times : side->times) {
        for (const auto& [key, time_ns] : times) {
          if (groups_[PatternOfKey(key)].insert(key).second) ++layers_;
        }
      }
    }
  }

  void Write(Difference* difference) const {
    for (const auto& [name, group] : groups_) {
      difference->repeated_layers.push_back(CompareGroup(name, group));
      const std::optional<double> ratio = UsualRatio(before_, after_, group);
      for (const Key& key : group) {
        const bool stands_out = group.size() > 1 && ratio.has_value() && StandsOut(key, *ratio);
        difference->layers.push_back({key.first, key.second, Compare({key}, layers_), stands_out});
      }
    }
    SortByMoved(&difference->layers);
    SortByMoved(&difference->repeated_layers);
    std::map<Key, std::vector<size_t>> indices;
    for (size_t i = 0; i < difference->layers.size(); ++i) {
      const LayerChange& layer = difference->layers[i];
      indices[PatternOfKey({layer.model, layer.name})].push_back(i);
    }
    for (RepeatedLayerChange& repeated : difference->repeated_layers) {
      repeated.layers = std::move(indices[PatternOfKey({repeated.model, repeated.name})]);
    }
  }

 private:
  Key PatternOfKey(const Key& key) const {
    return {key.first, PatternOf(key.second, numbered_models_.contains(key.first))};
  }

  double LeastEffect() const { return sides_.options.least_share * sides_.whole_ns; }

  static size_t CountOn(const Side& side, const Keys& keys) {
    return static_cast<size_t>(
        std::count_if(keys.begin(), keys.end(), [&](const Key& key) { return side.Has(key); }));
  }

  // `tested`: how many are tested together.
  Change Compare(const Keys& keys, size_t tested) const {
    const Change change = CompareEstimates(SumOf(before_, keys), SumOf(after_, keys),
                                           sides_.Test(static_cast<double>(tested), LeastEffect()));
    if (!change.IsReal()) return change;
    if (CountOn(before_, keys) == 0) return OnOneSide(change, Verdict::kAppeared);
    return CountOn(after_, keys) == 0 ? OnOneSide(change, Verdict::kGone) : change;
  }

  RepeatedLayerChange CompareGroup(const Key& name, const Keys& group) const {
    return {.model = name.first,
            .name = group.size() > 1 ? name.second : group.begin()->second,
            .instances_before = CountOn(before_, group),
            .instances_after = CountOn(after_, group),
            .time_ns = Compare(group, groups_.size()),
            .layers = {}};
  }

  // Whether the layer is not what it was before, times the ratio that is usual beside it.
  bool StandsOut(const Key& key, double usual_ratio) const {
    return CompareEstimates(Scaled(SumOf(before_, {key}), usual_ratio), SumOf(after_, {key}),
                            sides_.Test(static_cast<double>(layers_), LeastEffect()))
        .IsReal();
  }

  const CompareInput& sides_;
  Side before_;
  Side after_;
  std::set<std::string> numbered_models_;
  std::map<Key, Keys> groups_;  // by model and pattern
  size_t layers_ = 0;
};

}  // namespace

void CompareLayers(const CompareInput& sides, Difference* difference) {
  if (HaveLayers(sides.before) && HaveLayers(sides.after)) {
    LayerComparison(sides).Write(difference);
  }
}

}  // namespace utlz
