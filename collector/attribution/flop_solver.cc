#include "collector/attribution/flop_solver.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

namespace utlz {
namespace {

// Counts of one range repeat to this share at least: no figure is better than this.
constexpr double kCountNoise = 1e-4;
// Counts contradict a prior that lies further from them than its standard errors, times this, when
// all point the same way: an error of the clock or of a pipe's rate is common to all kernels.
constexpr double kCommonErrors = 2;
// No more kernels than these are taken to hide their instructions.
constexpr size_t kMostFound = 8;

// Least squares with a Gaussian prior, solved in the space of the (few) rows.
struct System {
  std::vector<uint32_t> kernels;  // by column
  Eigen::MatrixXd launches;       // rows × kernels
  Eigen::VectorXd counted;        // rows
  Eigen::VectorXd count_error;    // rows
  Eigen::VectorXd prior;
  Eigen::VectorXd error;
  Eigen::VectorXd assumed;  // of the error
  Eigen::VectorXd contradicted_error;
};

struct Posterior {
  Eigen::VectorXd mean;
  Eigen::VectorXd deviation;
};

bool Counts(const FlopCount& count, const KernelPrior& known) {
  return !(count.warp_groups_only && known.warp_mma);
}

System SystemOf(std::span<const CountedMix> mixes, const std::string& data_type,
                const FlopPrior& prior) {
  System system;
  std::map<uint32_t, Eigen::Index> column_of;
  std::vector<const CountedMix*> rows;
  for (const CountedMix& mix : mixes) {
    const auto count = mix.counts.find(data_type);
    if (count == mix.counts.end()) continue;
    rows.push_back(&mix);
    for (const auto& [kernel, launches] : mix.kernels) {
      const auto known = prior.find(kernel);
      if (known == prior.end() || !Counts(count->second, known->second)) continue;
      if (column_of.emplace(kernel, system.kernels.size()).second) system.kernels.push_back(kernel);
    }
  }
  const auto columns = static_cast<Eigen::Index>(system.kernels.size());
  system.launches = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.size()), columns);
  system.counted = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rows.size()));
  system.count_error = system.counted;
  for (size_t row = 0; row < rows.size(); ++row) {
    const FlopCount& count = rows[row]->counts.at(data_type);
    const auto r = static_cast<Eigen::Index>(row);
    system.counted[r] = count.operations;
    system.count_error[r] = count.error;
    for (const auto& [kernel, launches] : rows[row]->kernels) {
      const auto column = column_of.find(kernel);
      if (column == column_of.end() || !Counts(count, prior.at(kernel))) continue;
      system.launches(r, column->second) = launches;
    }
  }
  system.prior = Eigen::VectorXd::Zero(columns);
  system.error = Eigen::VectorXd::Zero(columns);
  system.assumed = Eigen::VectorXd::Zero(columns);
  system.contradicted_error = Eigen::VectorXd::Zero(columns);
  for (const auto& [kernel, column] : column_of) {
    const auto& by_type = prior.at(kernel).by_type;
    const auto known = by_type.find(data_type);
    if (known == by_type.end()) continue;
    system.prior[column] = known->second.per_launch;
    system.error[column] = known->second.error;
    system.assumed[column] = known->second.assumed;
    system.contradicted_error[column] = known->second.contradicted_error;
  }
  return system;
}

// How far the counts lie beyond the reach of the priors, as a share of them: of the worst range.
double Contradiction(const System& system) {
  double worst = 0;
  const Eigen::VectorXd expected = system.launches * system.prior;
  const Eigen::VectorXd reach = kCommonErrors * (system.launches * system.error);
  const double noise = system.counted.size() == 0 ? 0 : kCountNoise * system.counted.maxCoeff();
  for (Eigen::Index row = 0; row < system.counted.size(); ++row) {
    const double distance = std::abs(system.counted[row] - expected[row]);
    if (distance <= reach[row] + kCommonErrors * system.count_error[row] + noise) continue;
    worst = std::max(worst, distance / std::max(system.counted[row], expected[row]));
  }
  return worst;
}

// Of the worst data type; 0: the counts contradict nothing.
double Contradiction(std::span<const CountedMix> mixes, const std::set<std::string>& data_types,
                     const FlopPrior& prior) {
  double worst = 0;
  for (const std::string& data_type : data_types) {
    worst = std::max(worst, Contradiction(SystemOf(mixes, data_type, prior)));
  }
  return worst;
}

// What did none of a type together did none of it alone.
void HoldUncountedAtZero(System* system, Eigen::VectorXd* deviation) {
  for (Eigen::Index row = 0; row < system->counted.size(); ++row) {
    if (system->counted[row] > 0) continue;
    for (Eigen::Index column = 0; column < system->prior.size(); ++column) {
      if (system->launches(row, column) == 0) continue;
      system->prior[column] = 0;
      (*deviation)[column] = 0;
    }
  }
}

Posterior SolveOnce(const System& system, const Eigen::VectorXd& deviation) {
  const Eigen::VectorXd variance = deviation.cwiseAbs2();
  const Eigen::MatrixXd weighted = system.launches * variance.asDiagonal();
  Eigen::MatrixXd covariance = weighted * system.launches.transpose();
  const double noise = kCountNoise * system.counted.cwiseAbs().maxCoeff() + 1e-300;
  covariance.diagonal().array() += noise * noise + system.count_error.array().square();
  const Eigen::LDLT<Eigen::MatrixXd> decomposition(covariance);
  const Eigen::VectorXd distance = system.counted - system.launches * system.prior;
  const Eigen::MatrixXd explained = decomposition.solve(weighted);
  const Eigen::VectorXd left =
      variance - weighted.cwiseProduct(explained).colwise().sum().transpose();
  return {system.prior + weighted.transpose() * decomposition.solve(distance),
          left.cwiseMax(0.0).cwiseSqrt()};
}

// Operations are not negative: what comes out below zero is held at zero and the rest solved again.
// How far it may be off remains what it was.
Posterior SolveNonNegative(System system, Eigen::VectorXd deviation) {
  Eigen::VectorXd held = Eigen::VectorXd::Zero(deviation.size());
  for (Eigen::Index turn = 0; turn < system.prior.size(); ++turn) {
    Posterior posterior = SolveOnce(system, deviation);
    Eigen::Index lowest = 0;
    const double minimum = posterior.mean.minCoeff(&lowest);
    if (minimum >= -1e-9 * posterior.mean.cwiseAbs().maxCoeff()) {
      posterior.deviation = posterior.deviation.cwiseMax(held);
      return posterior;
    }
    system.prior[lowest] = 0;
    held[lowest] = posterior.deviation[lowest];
    deviation[lowest] = 0;
  }
  return {Eigen::VectorXd::Zero(system.prior.size()), held};
}

// The kernel that explains the counts best if its tensor instructions are those of warps; none
// where two do so equally well, or none does.
std::optional<uint32_t> BestWarpMma(std::span<const CountedMix> mixes,
                                    const std::set<std::string>& data_types, FlopPrior* prior,
                                    double contradiction) {
  std::optional<uint32_t> found;
  double least = contradiction;
  bool alone = true;
  for (auto& [kernel, known] : *prior) {
    if (known.warp_mma || known.instructions_known) continue;
    known.warp_mma = true;
    const double left = Contradiction(mixes, data_types, *prior);
    known.warp_mma = false;
    if (left > least) continue;
    alone = left < least;
    if (alone) {
      least = left;
      found = kernel;
    }
  }
  return alone ? found : std::nullopt;
}

// Kernels that together explain the counts so; empty where they do not.
std::set<uint32_t> FindWarpMma(std::span<const CountedMix> mixes,
                               const std::set<std::string>& data_types, FlopPrior prior,
                               double contradiction) {
  std::set<uint32_t> found;
  for (size_t turn = 0; turn < kMostFound && contradiction > 0; ++turn) {
    const auto kernel = BestWarpMma(mixes, data_types, &prior, contradiction);
    if (!kernel.has_value()) return {};
    found.insert(*kernel);
    prior[*kernel].warp_mma = true;
    contradiction = Contradiction(mixes, data_types, prior);
  }
  return contradiction > 0 ? std::set<uint32_t>() : found;
}

// What names tell is off by no more than the counts are; what they leave open may be all or
// nothing.
void WidenErrors(double contradiction, const FlopPrior& prior, const System& system,
                 Eigen::VectorXd* deviation) {
  for (size_t column = 0; column < system.kernels.size(); ++column) {
    const auto at = static_cast<Eigen::Index>(column);
    const bool known = prior.at(system.kernels[column]).instructions_known;
    const double share = known ? std::min(1.0, contradiction / kTypeSpread) : 1;
    (*deviation)[at] = std::hypot(system.error[at], share * system.contradicted_error[at]);
  }
}

// Of a deviation before the counts: counts make what was sampled and what was assumed smaller
// alike.
double AssumedShare(const System& system, Eigen::Index column, double deviation) {
  if (deviation <= 0) return 0;
  const double measured =
      system.error[column] * system.error[column] - system.assumed[column] * system.assumed[column];
  return std::sqrt(std::clamp(1 - measured / (deviation * deviation), 0.0, 1.0));
}

}  // namespace

SolvedFlops SolveFlops(std::span<const CountedMix> mixes, FlopPrior prior) {
  std::set<std::string> data_types;
  for (const CountedMix& mix : mixes) {
    for (const auto& [data_type, count] : mix.counts) data_types.insert(data_type);
  }
  SolvedFlops solved;
  double contradiction = Contradiction(mixes, data_types, prior);
  if (contradiction > 0) {
    solved.warp_mma = FindWarpMma(mixes, data_types, prior, contradiction);
    for (const uint32_t kernel : solved.warp_mma) prior[kernel].warp_mma = true;
    if (!solved.warp_mma.empty()) contradiction = 0;
  }
  for (const std::string& data_type : data_types) {
    System system = SystemOf(mixes, data_type, prior);
    if (system.kernels.empty()) continue;
    Eigen::VectorXd deviation = system.error;
    if (contradiction > 0) WidenErrors(contradiction, prior, system, &deviation);
    HoldUncountedAtZero(&system, &deviation);
    const Posterior posterior = SolveNonNegative(system, deviation);
    for (size_t column = 0; column < system.kernels.size(); ++column) {
      const auto at = static_cast<Eigen::Index>(column);
      solved.by_kernel[system.kernels[column]][data_type] = {
          std::max(0.0, posterior.mean[at]), posterior.deviation[at],
          posterior.deviation[at] * AssumedShare(system, at, deviation[at])};
    }
  }
  return solved;
}

}  // namespace utlz
