#include "collector/counters/counter_set.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace utlz {
namespace {

bool EndsWith(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

}  // namespace

bool IsActivityRole(MetricRole role) {
  switch (role) {
    case METRIC_TENSOR_ACTIVE:
    case METRIC_TENSOR_HMMA_ACTIVE:
    case METRIC_TENSOR_IMMA_ACTIVE:
    case METRIC_TENSOR_DMMA_ACTIVE:
    case METRIC_FP64_ACTIVE:
    case METRIC_SM_CYCLES_ACTIVE:
      return true;
    default:
      return false;
  }
}

CounterSet::CounterSet(const MetricSet& set, uint32_t multiprocessors) {
  for (int i = 0; i < set.metric_size(); ++i) {
    const MetricSet::Metric& metric = set.metric(i);
    if (metric.role() != METRIC_SM_CYCLES_ELAPSED || elapsed_metric_.has_value()) continue;
    const bool sum = EndsWith(metric.name(), ".sum");
    if (sum && multiprocessors == 0) continue;
    elapsed_metric_ = static_cast<size_t>(i);
    elapsed_divisor_ = sum ? multiprocessors : 1;
  }
  for (int i = 0; i < set.metric_size(); ++i) {
    AddColumn(set.metric(i), static_cast<size_t>(i), multiprocessors);
  }
}

void CounterSet::AddColumn(const MetricSet::Metric& metric, size_t index,
                           uint32_t multiprocessors) {
  const MetricRole role = metric.role();
  // Roles are indices of arrays. An open enum may hold any number: of a newer sampler, or forged.
  if (!MetricRole_IsValid(role) || role == METRIC_OTHER || IndexOf(role).has_value()) return;
  Column column = {.metric = index, .conversion = Conversion::kAsIs, .divisor = 1};
  if (role == METRIC_SM_CYCLES_ELAPSED) {
    if (index != elapsed_metric_) return;
    column.conversion = Conversion::kDivide;
    column.divisor = elapsed_divisor_;
  } else if (metric.unit() == "percent") {
    if (!IsActivityRole(role) || !elapsed_metric_.has_value()) return;
    column.conversion = Conversion::kPercentOfElapsed;
  } else if (IsActivityRole(role) && EndsWith(metric.name(), ".sum")) {
    column.conversion = Conversion::kDivide;
    column.divisor = metric.peak_per_cycle() > 0 ? metric.peak_per_cycle() : multiprocessors;
    if (!(column.divisor > 0)) return;
  }
  roles_.push_back(role);
  columns_.push_back(column);
}

std::optional<size_t> CounterSet::IndexOf(MetricRole role) const {
  const auto found = std::find(roles_.begin(), roles_.end(), role);
  if (found == roles_.end()) return std::nullopt;
  return static_cast<size_t>(found - roles_.begin());
}

bool CounterSet::Convert(std::span<const double> row, std::vector<double>* converted) const {
  converted->resize(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    double value = row[column.metric];
    if (column.conversion == Conversion::kDivide) value /= column.divisor;
    if (column.conversion == Conversion::kPercentOfElapsed) {
      value *= row[*elapsed_metric_] / elapsed_divisor_ / 100;
    }
    if (!std::isfinite(value) || value < 0) return false;
    (*converted)[i] = value;
  }
  return true;
}

}  // namespace utlz
