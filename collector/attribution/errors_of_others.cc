#include "collector/attribution/errors_of_others.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "collector/attribution/small_sample.h"

namespace utlz::attribution {
namespace {

// Of what was attributed: columns that did less show no more than how it was divided.
constexpr double kTellingShare = 0.01;

size_t Windows(const Model& model, size_t column, size_t counter) {
  return model.statistics(column, counter).clusters(kWindowLevel).clusters();
}

// Standard deviation of a window's mean beyond its launches' own scatter, a share of the mean, by
// Student's t.
double SpreadOfWindows(const ColumnStatistics& statistics) {
  const size_t windows = statistics.clusters(kWindowLevel).clusters();
  const double by_launches = statistics.variance() * static_cast<double>(windows) /
                             static_cast<double>(statistics.launches());
  const double beyond = statistics.clusters(kWindowLevel).VarianceOfCluster() - by_launches;
  return SmallSampleFactor(windows) * std::sqrt(std::max(0.0, beyond)) / statistics.per_launch();
}

// By how much windows differ for the columns that were seen in some of them: the median by what
// they did. Those that did little differ by how samples are divided.
double UsualSpreadOfWindows(const Model& model, size_t counter) {
  std::vector<std::pair<double, double>> spreads;  // with what the column did
  const double floor = kTellingShare * model.totals()[counter].attributed;
  double all = 0;
  for (size_t column = 0; column < model.plan().columns().size(); ++column) {
    const ColumnStatistics& statistics = model.statistics(column, counter);
    if (Windows(model, column, counter) < kFewestClusters || statistics.per_launch() <= 0 ||
        statistics.attributed() < floor) {
      continue;
    }
    spreads.emplace_back(SpreadOfWindows(statistics), statistics.attributed());
    all += statistics.attributed();
  }
  std::sort(spreads.begin(), spreads.end());
  double below = 0;
  for (const auto& [spread, attributed] : spreads) {
    below += attributed;
    if (2 * below >= all) return spread;
  }
  return 0;
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

void AddWindowErrors(const Model& model, std::vector<ColumnEstimate>* columns) {
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
      std::optional<double>& error = column.counters[counter].standard_error;
      if (!options.counters[counter].behind_caches || !error) continue;
      error = std::hypot(*error, error_per_ns * mean_ns);
    }
  }
}

}  // namespace utlz::attribution
