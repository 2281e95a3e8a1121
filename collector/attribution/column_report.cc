#include "collector/attribution/column_report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "collector/attribution/borrowed_errors.h"
#include "collector/attribution/column_folding.h"
#include "collector/attribution/counter_estimate.h"
#include "collector/attribution/fit_covariance.h"
#include "collector/each_in_threads.h"

namespace utlz::attribution {
namespace {

constexpr double kNoticedShare = 1e-3;

// Joins columns that one shift group's counters cannot tell apart.
void FoldConfounded(const FitModel& model, const FitCovariance& covariance, size_t group,
                    ColumnFolding* folding) {
  const size_t columns = model.plan().columns().size();
  for (const size_t counter : model.groups()[group].counters) {
    // Columns that did next to nothing are uncertain in relation to themselves only.
    const double floor = kNoticedShare * model.totals()[counter].attributed;
    for (size_t b = 1; b < columns; ++b) {
      const ColumnStatistics& second = model.statistics(b, counter);
      for (size_t a = 0; a < b; ++a) {
        const ColumnStatistics& first = model.statistics(a, counter);
        if (std::max(first.attributed(), second.attributed()) < floor) continue;
        if (Confounded(first.attributed(),
                       covariance.Deviation(a) * std::sqrt(first.residual_variance()),
                       second.attributed(),
                       covariance.Deviation(b) * std::sqrt(second.residual_variance()),
                       covariance.Correlation(a, b))) {
          folding->Join(a, b);
        }
      }
    }
  }
}

void NameGroups(const ColumnFolding& folding, Solution* solution) {
  for (const std::vector<size_t>& columns : folding.Groups()) {
    const size_t index = solution->groups.size();
    solution->groups.push_back({"indistinct " + std::to_string(index + 1), columns});
    for (const size_t column : columns) solution->columns[column].group = index;
  }
  if (solution->columns[ColumnPlan::kOtherColumn].launches > 0 &&
      !solution->columns[ColumnPlan::kOtherColumn].group) {
    solution->columns[ColumnPlan::kOtherColumn].group = solution->groups.size();
    solution->groups.push_back({"other variants", {ColumnPlan::kOtherColumn}});
  }
}

}  // namespace

void ReportColumns(const FitModel& model, const VariantTable& variants, const Options& options,
                   unsigned threads, Solution* solution) {
  const std::vector<WorkColumn>& columns = model.plan().columns();
  solution->totals = model.totals();
  solution->columns.resize(columns.size());
  for (size_t column = 0; column < columns.size(); ++column) {
    ColumnEstimate& estimate = solution->columns[column];
    estimate.variant = variants.variant(columns[column].variant);
    estimate.kind = variants.kind(columns[column].variant);
    estimate.part = columns[column].part;
    estimate.parts = columns[column].parts;
    estimate.min_duration_ns = columns[column].min_duration_ns;
    estimate.max_duration_ns = columns[column].max_duration_ns;
    estimate.launches = model.launches(column);
    estimate.time_ns = model.time_ns(column);
    estimate.counters.resize(model.totals().size());
  }
  std::vector<std::optional<FitCovariance>> covariances(model.groups().size());
  EachInThreads(covariances.size(), threads,
                [&](size_t group) { covariances[group].emplace(model.fit(group), model.plan()); });
  ColumnFolding folding(columns.size());
  for (size_t group = 0; group < model.groups().size(); ++group) {
    const FitCovariance& covariance = *covariances[group];
    FoldConfounded(model, covariance, group, &folding);
    const EdgeError edge_error = EdgeErrorOf(solution->shifts[group], options);
    for (size_t column = 0; column < columns.size(); ++column) {
      const std::vector<size_t>& counters = model.groups()[group].counters;
      for (size_t index = 0; index < counters.size(); ++index) {
        solution->columns[column].counters[counters[index]] =
            EstimateCounter(model, covariance, group, index, column, edge_error, options);
        solution->columns[column].sampled_launches =
            model.statistics(column, counters[index]).launches();
      }
    }
  }
  AddLaunchErrors(model, &solution->columns);
  AddWindowErrors(model, &solution->columns);
  AddCacheErrors(options, &solution->columns);
  NameGroups(folding, solution);
}

}  // namespace utlz::attribution
