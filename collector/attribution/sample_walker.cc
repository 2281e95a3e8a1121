#include "collector/attribution/sample_walker.h"

#include <algorithm>
#include <utility>

namespace utlz::attribution {

SampleWalker::SampleWalker(size_t counters, std::vector<double> shifts_ns, Detail detail)
    : counters_(counters),
      shifts_ns_(std::move(shifts_ns)),
      with_shapes_(detail == Detail::kShapes),
      coverages_(shifts_ns_.size()) {}

void SampleWalker::MoveTo(const Sample& sample, const std::vector<Launch>& launches, size_t* cursor,
                          ColumnPlan* plan) {
  const auto [least, greatest] = std::minmax_element(shifts_ns_.begin(), shifts_ns_.end());
  const double first = least == shifts_ns_.end() ? 0 : *least;
  const double last = greatest == shifts_ns_.end() ? 0 : *greatest;

  for (ActiveLaunch& done : retired_) spare_.push_back(std::move(done));
  retired_.clear();
  for (size_t i = 0; i < active_.size();) {
    if (static_cast<double>(active_[i].launch.tail_end_ns - sample.start_ns) + last > 0) {
      ++i;
      continue;
    }
    retired_.push_back(std::move(active_[i]));
    if (i + 1 < active_.size()) active_[i] = std::move(active_.back());
    active_.pop_back();
  }
  for (; *cursor < launches.size(); ++*cursor) {
    const Launch& launch = launches[*cursor];
    if (static_cast<double>(launch.start_ns - sample.end_ns) + first >= 0) break;
    if (static_cast<double>(launch.tail_end_ns - sample.start_ns) + last <= 0) continue;
    Activate(launch, plan);
  }
  for (size_t group = 0; group < shifts_ns_.size(); ++group) {
    Cover(sample, *plan, shifts_ns_[group], &coverages_[group]);
  }
}

void SampleWalker::Admit(const std::vector<Launch>& launches, size_t* cursor, ColumnPlan* plan) {
  for (; *cursor < launches.size(); ++*cursor) Activate(launches[*cursor], plan);
}

void SampleWalker::Activate(const Launch& launch, ColumnPlan* plan) {
  if (active_.size() >= kMaxActive) {
    ++crowded_;
    return;
  }
  ActiveLaunch next;
  if (!spare_.empty()) {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  next.launch = launch;
  next.column = plan->ColumnOf(launch);
  const auto duration = static_cast<double>(launch.end_ns - launch.start_ns);
  const auto tail = static_cast<double>(launch.tail_end_ns - launch.start_ns);
  next.knots = plan->columns()[next.column].shape.PlaceKnots(duration, tail);
  next.attributed.assign(counters_, 0);
  next.expected.assign(counters_, 0);
  next.imputed.assign(counters_, 0);
  next.covered_ns.assign(shifts_ns_.size(), 0);
  next.imputed_ns.assign(shifts_ns_.size(), 0);
  active_.push_back(std::move(next));
}

void SampleWalker::Cover(const Sample& sample, const ColumnPlan& plan, double shift_ns,
                         Coverage* coverage) {
  coverage->pieces.clear();
  coverage->values.clear();
  const auto span_ns = static_cast<double>(sample.end_ns - sample.start_ns);
  // Covered stretches in time order, merged as they come; few launches overlap one sample.
  std::vector<std::pair<double, double>> stretches;
  for (size_t i = 0; i < active_.size(); ++i) {
    const ActiveLaunch& active = active_[i];
    const double from = static_cast<double>(sample.start_ns - active.launch.start_ns) - shift_ns;
    const double to = from + span_ns;
    const auto duration = static_cast<double>(active.launch.end_ns - active.launch.start_ns);
    const auto tail = static_cast<double>(active.launch.tail_end_ns - active.launch.start_ns);
    if (to <= 0 || from >= tail) continue;
    stretches.emplace_back(std::max(0.0, -from), std::min(span_ns, tail - from));

    const WorkColumn& column = plan.columns()[active.column];
    Coverage::Piece piece;
    piece.active = static_cast<uint32_t>(i);
    piece.column = active.column;
    piece.overlap_ns = std::max(0.0, std::min(to, duration) - std::max(from, 0.0));
    piece.first_value = coverage->values.size();
    for (size_t hat = 0; with_shapes_ && hat < column.shape.coefficients(); ++hat) {
      const double integral = column.shape.HatIntegral(active.knots, hat, from, to);
      if (integral <= 0) {
        if (piece.count > 0) break;
        continue;
      }
      if (piece.count == 0) {
        piece.first_coefficient = column.first_coefficient + static_cast<uint32_t>(hat);
      }
      coverage->values.push_back(integral);
      ++piece.count;
    }
    coverage->pieces.push_back(piece);
  }
  std::sort(stretches.begin(), stretches.end());
  double covered = 0;
  double reached = 0;
  for (const auto& [from, to] : stretches) {
    covered += std::max(0.0, to - std::max(from, reached));
    reached = std::max(reached, to);
  }
  coverage->uncovered_ns = std::max(0.0, span_ns - covered);
}

}  // namespace utlz::attribution
