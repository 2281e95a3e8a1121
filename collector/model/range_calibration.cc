#include "collector/model/range_calibration.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <set>

namespace utlz {
namespace {

// Counts of one range repeat to this share; it only keeps the equations solvable.
constexpr double kCountNoise = 1e-4;

constexpr std::string_view kTotalPrefix = "sm__ops_path_tensor_src_";
constexpr std::string_view kOperationPrefix = "sm__ops_path_tensor_op_";
constexpr std::string_view kSource = "src_";

struct TypeName {
  std::string_view metric;
  std::string_view data_type;
};
constexpr TypeName kTypeNames[] = {{"bf16", "bf16"}, {"fp16", "fp16"}, {"tf32", "tf32"},
                                   {"fp8", "fp8"},   {"int8", "int8"}, {"fp64", "fp64_tensor"}};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Operations by data type of one range. A metric of a whole data type outranks those of its single
// instructions, whose sum it is.
std::map<std::string, double> OperationsOf(const RangeBatch& batch, const RangeBatch::Range& range) {
  std::set<std::string_view> whole;
  for (const std::string& metric : batch.metric()) {
    if (StartsWith(metric, kTotalPrefix)) whole.insert(DataTypeOfOperationsMetric(metric));
  }
  std::map<std::string, double> operations;
  for (int i = 0; i < batch.metric_size(); ++i) {
    const std::string_view data_type = DataTypeOfOperationsMetric(batch.metric(i));
    if (data_type.empty() || !std::isfinite(range.value(i)) || range.value(i) < 0) continue;
    if (!StartsWith(batch.metric(i), kTotalPrefix) && whole.contains(data_type)) continue;
    operations[std::string(data_type)] += range.value(i);
  }
  return operations;
}

// Least squares with a Gaussian prior, solved in the space of the (few) rows.
struct System {
  Eigen::MatrixXd launches;  // rows × kernels
  Eigen::VectorXd counted;   // rows
  Eigen::VectorXd prior;     // kernels
  Eigen::VectorXd variance;  // kernels
};

struct Posterior {
  Eigen::VectorXd mean;
  Eigen::VectorXd variance;
};

Posterior SolveOnce(const System& system) {
  const Eigen::MatrixXd weighted = system.launches * system.variance.asDiagonal();
  Eigen::MatrixXd covariance = weighted * system.launches.transpose();
  const double noise = kCountNoise * system.counted.cwiseAbs().maxCoeff() + 1e-300;
  covariance.diagonal().array() += noise * noise;
  const Eigen::LDLT<Eigen::MatrixXd> decomposition(covariance);
  Posterior posterior;
  posterior.mean = system.prior + weighted.transpose() * decomposition.solve(Eigen::VectorXd(
                                                             system.counted -
                                                             system.launches * system.prior));
  const Eigen::MatrixXd explained = decomposition.solve(weighted);
  posterior.variance = system.variance - (weighted.cwiseProduct(explained)).colwise().sum().transpose();
  return posterior;
}

// Operations are not negative: what comes out below zero is held at zero and the rest solved again.
Posterior SolveNonNegative(System system) {
  for (Eigen::Index turn = 0; turn < system.prior.size(); ++turn) {
    Posterior posterior = SolveOnce(system);
    Eigen::Index lowest = 0;
    const double minimum = posterior.mean.minCoeff(&lowest);
    if (minimum >= -1e-9 * posterior.mean.cwiseAbs().maxCoeff()) return posterior;
    system.prior[lowest] = 0;
    system.variance[lowest] = 0;
  }
  return {Eigen::VectorXd::Zero(system.prior.size()), system.variance};
}

}  // namespace

std::string_view DataTypeOfOperationsMetric(std::string_view metric) {
  if (!StartsWith(metric, kTotalPrefix) && !StartsWith(metric, kOperationPrefix)) return {};
  if (metric.find("sparsity") != std::string_view::npos) return {};
  const size_t source = metric.find(kSource);
  if (source == std::string_view::npos) return {};
  const std::string_view type = metric.substr(source + kSource.size());
  for (const TypeName& name : kTypeNames) {
    if (StartsWith(type, name.metric)) return name.data_type;
  }
  return {};
}

bool RangeCalibration::Add(uint32_t source, uint32_t device, const RangeBatch& batch) {
  for (const RangeBatch::Range& range : batch.ranges()) {
    if (range.value_size() != batch.metric_size() || range.end_ns() <= range.start_ns()) return false;
  }
  discarded_ += batch.discarded();
  for (const RangeBatch::Range& range : batch.ranges()) {
    if (pending_.size() >= kMaxPending) {
      ++discarded_;
      continue;
    }
    pending_.push_back({.source = source,
                        .device = device,
                        .context = range.context(),
                        .start_ns = range.start_ns(),
                        .end_ns = range.end_ns(),
                        .launches = range.launches(),
                        .operations = OperationsOf(batch, range),
                        .kernels = {}});
  }
  return true;
}

void RangeCalibration::AddActivity(uint32_t device, const Activity& activity) {
  if (activity.kernel == kNoKernel) return;
  for (Range& range : pending_) {
    if (range.device != device || range.source != activity.source ||
        range.context != activity.context || activity.start_ns < range.start_ns ||
        activity.end_ns > range.end_ns) {
      continue;
    }
    if (range.kernels.size() < kMaxKernelsInRange) ++range.kernels[activity.kernel];
  }
}

void RangeCalibration::AdvanceTo(uint32_t device, uint64_t time_ns) {
  const auto complete = std::stable_partition(
      pending_.begin(), pending_.end(),
      [=](const Range& range) { return range.device != device || range.end_ns > time_ns; });
  for (auto range = complete; range != pending_.end(); ++range) Keep(std::move(*range));
  pending_.erase(complete, pending_.end());
}

void RangeCalibration::Keep(Range range) {
  uint64_t launches = 0;
  for (const auto& [kernel, count] : range.kernels) launches += count;
  const bool whole = launches > 0 && (range.launches == 0 || range.launches == launches);
  const bool room = rows_.size() < kMaxRows || rows_.contains(range.kernels);
  if (!whole || !room) {
    ++discarded_;
    return;
  }
  ++ranges_;
  Row& row = rows_[std::move(range.kernels)];
  ++row.ranges;
  for (const auto& [data_type, operations] : range.operations) row.operations[data_type] += operations;
}

RangeCalibration::Result RangeCalibration::Solve(const Prior& prior) const {
  std::set<std::string> data_types;
  std::map<uint32_t, Eigen::Index> column_of;
  for (const auto& [mix, row] : rows_) {
    for (const auto& [kernel, launches] : mix) column_of.emplace(kernel, 0);
    for (const auto& [data_type, operations] : row.operations) data_types.insert(data_type);
  }
  Eigen::Index columns = 0;
  for (auto& [kernel, column] : column_of) column = columns++;
  const auto rows = static_cast<Eigen::Index>(rows_.size());
  System system;
  system.launches = Eigen::MatrixXd::Zero(rows, columns);
  Eigen::Index r = 0;
  for (const auto& [mix, row] : rows_) {
    for (const auto& [kernel, launches] : mix) system.launches(r, column_of[kernel]) = launches;
    ++r;
  }
  Result result;
  for (const std::string& data_type : data_types) {
    system.counted = Eigen::VectorXd::Zero(rows);
    system.prior = Eigen::VectorXd::Zero(columns);
    system.variance = Eigen::VectorXd::Zero(columns);
    r = 0;
    for (const auto& [mix, row] : rows_) {
      const auto found = row.operations.find(data_type);
      const double sum = found == row.operations.end() ? 0 : found->second;
      system.counted[r++] = sum / static_cast<double>(row.ranges);
    }
    for (const auto& [kernel, column] : column_of) {
      const auto beliefs = prior.find(kernel);
      if (beliefs == prior.end()) continue;
      const auto belief = beliefs->second.find(data_type);
      if (belief == beliefs->second.end()) continue;
      system.prior[column] = belief->second.per_launch;
      system.variance[column] = belief->second.spread * belief->second.spread;
    }
    const Posterior posterior = SolveNonNegative(system);
    for (const auto& [kernel, column] : column_of) {
      result[kernel][data_type] = {std::max(0.0, posterior.mean[column]),
                                   std::sqrt(std::max(0.0, posterior.variance[column]))};
    }
  }
  return result;
}

}  // namespace utlz
