#include "collector/attribution/borrowed_errors.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "collector/attribution/small_sample.h"

namespace utlz::attribution {
namespace {

// Of what was attributed: columns that did less show no more than how it was divided.
constexpr double kRelevantShare = 0.01;

size_t Windows(const FitModel& model, size_t column, size_t counter) {
  return model.statistics(column, counter).clusters(kWindowLevel).clusters();
}

// Standard deviation of a window's mean beyond its launches' own scatter, a share of the mean, by
// Student's t.
double SpreadOfWindows(const ColumnStatistics& statistics) {
  const size_t windows = statistics.clusters(kWindowLevel).clusters();
  const double by_launches = statistics.variance() * static_cast<double>(windows) /
                             static_cast<double>(statistics.launches());
  const double beyond = statistics.clusters(kWindowLevel).VarianceOfCluster(0) - by_launches;
  return SmallSampleFactor(windows) * std::sqrt(std::max(0.0, beyond)) / statistics.per_launch();
}

// What one column shows of a spread, relative, and what was attributed to it.
struct Spread {
  double share;
  double attributed;
};

// The median by what they did.
double UsualSpread(std::vector<Spread> spreads) {
  std::sort(spreads.begin(), spreads.end(),
            [](const Spread& a, const Spread& b) { return a.share < b.share; });
  double all = 0;
  for (const Spread& spread : spreads) all += spread.attributed;
  double below = 0;
  for (const Spread& spread : spreads) {
    below += spread.attributed;
    if (2 * below >= all) return spread.share;
  }
  return 0;
}

// Of the columns that `shows` a share of. Those that did little differ by how samples are divided.
template <typename Shows>
std::vector<Spread> Spreads(const FitModel& model, size_t counter, Shows shows) {
  std::vector<Spread> spreads;
  const double floor = kRelevantShare * model.totals()[counter].attributed;
  for (size_t column = 0; column < model.plan().columns().size(); ++column) {
    const ColumnStatistics& statistics = model.statistics(column, counter);
    if (statistics.per_launch() <= 0 || statistics.attributed() < floor) continue;
    const std::optional<double> share = shows(column, statistics);
    if (share) spreads.push_back({*share, statistics.attributed()});
  }
  return spreads;
}

// By how much windows differ for the columns that were seen in some of them.
double UsualSpreadOfWindows(const FitModel& model, size_t counter) {
  return UsualSpread(
      Spreads(model, counter,
              [&](size_t column, const ColumnStatistics& statistics) -> std::optional<double> {
                if (Windows(model, column, counter) < kFewestClusters) return std::nullopt;
                return SpreadOfWindows(statistics);
              }));
}

// By how much the launches of a column differ, of the columns that show it; nothing: none does.
std::optional<double> UsualSpreadOfLaunches(const FitModel& model, size_t counter) {
  const std::vector<Spread> spreads = Spreads(
      model, counter, [](size_t, const ColumnStatistics& statistics) -> std::optional<double> {
        if (statistics.launches() < kFewestClusters) return std::nullopt;
        return SmallSampleFactor(statistics.launches()) * std::sqrt(statistics.variance()) /
               statistics.per_launch();
      });
  return spreads.empty() ? std::nullopt : std::make_optional(UsualSpread(spreads));
}

double PerNs(const ColumnEstimate& column, size_t counter) {
  if (column.time_ns == 0 || !column.counters[counter].per_launch) return 0;
  return *column.counters[counter].per_launch * static_cast<double>(column.launches) /
         static_cast<double>(column.time_ns);
}

// Reads and writes share the device's bandwidth, so the busiest of either sets the scale for both.
double BusiestPerNs(const Options& options, const std::vector<ColumnEstimate>& columns) {
  double busiest_per_ns = 0;
  for (size_t counter = 0; counter < options.counters.size(); ++counter) {
    if (!options.counters[counter].behind_caches) continue;
    for (const ColumnEstimate& column : columns) {
      busiest_per_ns = std::max(busiest_per_ns, PerNs(column, counter));
    }
  }
  return busiest_per_ns;
}

}  // namespace

void AddLaunchErrors(const FitModel& model, std::vector<ColumnEstimate>* columns) {
  for (size_t counter = 0; counter < model.totals().size(); ++counter) {
    const std::optional<double> spread = UsualSpreadOfLaunches(model, counter);
    for (size_t column = 0; column < columns->size(); ++column) {
      CounterEstimate& estimate = (*columns)[column].counters[counter];
      if (!estimate.standard_error || model.statistics(column, counter).launches() > 1) continue;
      if (spread) {
        estimate.standard_error =
            std::hypot(*estimate.standard_error, *spread * *estimate.per_launch);
      } else {
        estimate.standard_error.reset();
      }
    }
  }
}

void AddWindowErrors(const FitModel& model, std::vector<ColumnEstimate>* columns) {
  for (size_t counter = 0; counter < model.totals().size(); ++counter) {
    const double spread = UsualSpreadOfWindows(model, counter);
    for (size_t column = 0; column < columns->size(); ++column) {
      CounterEstimate& estimate = (*columns)[column].counters[counter];
      const size_t windows = Windows(model, column, counter);
      (*columns)[column].windows = windows;
      if (!estimate.standard_error || windows >= kFewestClusters) continue;
      const double few = std::sqrt(static_cast<double>(std::max<size_t>(1, windows)));
      estimate.standard_error =
          std::hypot(*estimate.standard_error, spread * *estimate.per_launch / few);
    }
  }
}

void AddCacheErrors(const Options& options, std::vector<ColumnEstimate>* columns) {
  const double error_per_ns = options.cache_share * BusiestPerNs(options, *columns);
  for (ColumnEstimate& column : *columns) {
    if (column.launches == 0) continue;
    const double mean_ns =
        static_cast<double>(column.time_ns) / static_cast<double>(column.launches);
    for (size_t counter = 0; counter < options.counters.size(); ++counter) {
      CounterEstimate& estimate = column.counters[counter];
      if (!options.counters[counter].behind_caches || !estimate.standard_error) continue;
      estimate.standard_error = std::hypot(*estimate.standard_error, error_per_ns * mean_ns);
      estimate.assumed_error = std::hypot(estimate.assumed_error, error_per_ns * mean_ns);
    }
  }
}

}  // namespace utlz::attribution
