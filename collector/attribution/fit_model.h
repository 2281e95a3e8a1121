// A planned set of columns with its fits, statistics and totals: learns and attributes recordings
// that follow each other in time.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_FIT_MODEL_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_FIT_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/attribution/cluster_variance.h"
#include "collector/attribution/column_plan.h"
#include "collector/attribution/column_statistics.h"
#include "collector/attribution/options.h"
#include "collector/attribution/rate_fit.h"
#include "collector/attribution/recording.h"
#include "collector/attribution/sample_splitter.h"
#include "collector/attribution/sample_walker.h"
#include "collector/attribution/shift_groups.h"
#include "collector/attribution/solution.h"

namespace utlz::attribution {

class FitModel {
 public:
  // `edge_errors_ns`: how far each group's shift may be off, a standard error.
  FitModel(const std::vector<ShiftGroup>& groups, size_t counters, ColumnPlan plan,
           std::vector<double> shifts_ns, std::vector<double> edge_errors_ns);

  void set_shifts(std::vector<double> shifts_ns);

  // Learns from a whole recording at once, then fits: the start. It is the one that the plan was
  // made of. Up to `threads` share the work.
  void Begin(const Recording& recording, unsigned threads);
  // Attributes the next stretch of time; learns from it too where it is new.
  enum class Novelty { kLearned, kNew };
  void Attribute(const Recording& recording, Novelty novelty);

  const ColumnPlan& plan() const { return plan_; }
  const std::vector<ShiftGroup>& groups() const { return groups_; }
  const RateFit& fit(size_t group) const { return fits_[group]; }
  const std::vector<CounterTotals>& totals() const { return totals_; }
  uint64_t crowded() const { return walker_.crowded(); }
  uint64_t launches(size_t column) const { return launches_[column]; }
  int64_t time_ns(size_t column) const { return durations_[column].sum_ns; }
  double mean_duration_ns(size_t column) const;
  // Of one launch's duration, among all that the column has; zero for fewer than two.
  double duration_variance(size_t column) const;
  const ColumnStatistics& statistics(size_t column, size_t counter) const {
    return statistics_[column * counters_ + counter];
  }
  // By how much a launch's count moves where the shift does, in counts for each nanosecond; absent
  // where the column was not there at the start.
  std::optional<double> ShiftSensitivity(size_t column, size_t counter) const;

 private:
  std::vector<RateFit> EmptyFits() const;
  std::vector<RateFit> LearnAll(const Recording& recording, double side) const;
  void AddMoved(const std::vector<RateFit>& fits, double side);
  void SetSensitivities();
  void CountLaunches(const Recording& recording);
  bool WorthLearning();
  void ImputeHole(const Sample& next, const std::vector<Launch>& launches, size_t* cursor);
  void Impute();
  void SplitAmongActive(const Sample& sample, size_t group, std::span<const double> values);
  void Retire();
  void FitAll();
  void MakeRoom();

  std::vector<ShiftGroup> groups_;
  size_t counters_;
  ColumnPlan plan_;
  std::vector<double> shifts_ns_;
  std::vector<double> edge_errors_ns_;
  std::vector<RateFit> fits_;
  SampleWalker walker_;
  std::vector<CounterTotals> totals_;
  std::vector<ColumnStatistics> statistics_;  // column x counter
  std::vector<double> moved_;  // column x counter: totals, from a lower to a higher shift
  std::vector<std::optional<double>> sensitivities_;  // column x counter
  struct Durations {
    int64_t sum_ns = 0;
    double mean_ns = 0;
    double squares = 0;  // of distances from the mean
  };
  std::vector<uint64_t> launches_;
  std::vector<Durations> durations_;
  SplitSample split_;              // scratch
  std::vector<uint32_t> learned_;  // samples, by column
  uint64_t considered_ = 0;
  int64_t sampled_to_ns_ = 0;
  ClusterClock clusters_;
  double learned_samples_ = 0;
  double next_fit_ = 0;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_FIT_MODEL_H_
