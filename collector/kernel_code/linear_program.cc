#include "collector/kernel_code/linear_program.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

constexpr size_t kMostEntries = size_t{6} << 20;
// Multiplications: about a second. The kernels of docs/measurements/ordinary_kernels.md need a
// tenth.
constexpr uint64_t kMostWork = 1'000'000'000;
constexpr double kZero = 1e-9;
constexpr double kNoise = 1e-12;
// No variable is expected above this: what rounding leaves of a proof counts so often.
constexpr double kLargestValue = 1e6;
// Proofs with more left than this share are none.
constexpr double kMostLeft = 1e-3;
constexpr double kFeasible = 1e-7;
// So many steps without gain, and the rule that cannot go round in circles takes over.
constexpr int kPatience = 200;
// Equations get values that are a little off, each by another amount: else many of them hold at
// once, and steps gain nothing. Those with a slack become wider, by more than sums of all the
// others can matter. The proof of a minimum is made with the right values.
constexpr double kLittle = 1e-6;
constexpr double kLittleWithoutSlack = 1e-9;

double OffBy(size_t row, double slack) {
  const double share = 1 + static_cast<double>(row * 2654435761u % 1024) / 1024;
  return share * (slack == 0 ? kLittleWithoutSlack : slack * kLittle);
}

}  // namespace

LinearProgram::LinearProgram(size_t variables, const std::vector<LinearRow>& rows)
    : variables_(variables) {
  for (const LinearRow& row : rows) {
    if (row.least == row.most) {
      AddEquation(row.terms, row.most, 0);
      continue;
    }
    if (std::isfinite(row.most)) AddEquation(row.terms, row.most, 1);
    if (std::isfinite(row.least)) AddEquation(row.terms, row.least, -1);
  }
  solvable_ = MakeTableau() && FindAnyValues();
}

void LinearProgram::AddEquation(const std::vector<LinearTerm>& terms, double value, double slack) {
  double largest = 0;
  for (const LinearTerm& term : terms) largest = std::max(largest, std::abs(term.coefficient));
  const double scale = (value < 0 ? -1 : 1) / (largest > 0 ? largest : 1);
  Equation equation{terms, value * scale, slack * scale};
  for (LinearTerm& term : equation.terms) term.coefficient *= scale;
  // A slack may have any scale of its own.
  if (slack != 0) equation.slack = equation.slack > 0 ? 1 : -1;
  equations_.push_back(std::move(equation));
}

bool LinearProgram::MakeTableau() {
  size_t slacks = 0;
  size_t artificial = 0;
  for (const Equation& equation : equations_) {
    slacks += equation.slack != 0;
    artificial += equation.slack <= 0;
  }
  first_artificial_ = variables_ + slacks;
  width_ = first_artificial_ + artificial + 1;
  if (width_ > kMostEntries / (equations_.size() + 1)) return false;
  tableau_.assign((equations_.size() + 1) * width_, 0);
  size_t slack = variables_;
  size_t next = first_artificial_;
  for (size_t row = 0; row < equations_.size(); ++row) {
    const Equation& equation = equations_[row];
    double* const entries = Row(row);
    for (const LinearTerm& term : equation.terms) entries[term.variable] += term.coefficient;
    entries[width_ - 1] = std::max(0.0, equation.value + OffBy(row, equation.slack));
    size_t basic = slack;
    if (equation.slack != 0) entries[slack++] = equation.slack;
    if (equation.slack <= 0) {
      basic = next;
      entries[next++] = 1;
    }
    basis_.push_back(basic);
    // Of an equation with a slack of -1 too the artificial column shows the price.
    column_of_dual_.push_back(basic);
  }
  return true;
}

// The sum of the artificial variables has to become zero.
bool LinearProgram::FindAnyValues() {
  double* const costs = Row(equations_.size());
  for (size_t row = 0; row < equations_.size(); ++row) {
    if (basis_[row] < first_artificial_) continue;
    const double* const entries = Row(row);
    for (size_t column = 0; column < first_artificial_; ++column) costs[column] -= entries[column];
    costs[width_ - 1] -= entries[width_ - 1];
  }
  if (!Improve(first_artificial_)) return false;
  if (-Row(equations_.size())[width_ - 1] > kFeasible) return false;
  RemoveArtificial();
  return true;
}

// An artificial variable that is left is zero, and must stay so: another takes its place, or its
// equation says nothing.
void LinearProgram::RemoveArtificial() {
  for (size_t row = 0; row < equations_.size(); ++row) {
    if (basis_[row] < first_artificial_) continue;
    Row(row)[width_ - 1] = 0;
    size_t best = 0;
    for (size_t column = 1; column < first_artificial_; ++column) {
      if (std::abs(Row(row)[column]) > std::abs(Row(row)[best])) best = column;
    }
    if (std::abs(Row(row)[best]) > kZero) Pivot(row, best);
  }
}

std::optional<size_t> LinearProgram::Entering(size_t columns, bool first) const {
  const double* const costs = Row(equations_.size());
  std::optional<size_t> found;
  double least = -kZero;
  for (size_t column = 0; column < columns; ++column) {
    if (costs[column] >= least) continue;
    found = column;
    if (first) break;
    least = costs[column];
  }
  return found;
}

std::optional<size_t> LinearProgram::Leaving(size_t column) const {
  std::optional<size_t> found;
  double best = 0;
  for (size_t row = 0; row < equations_.size(); ++row) {
    const double entry = Row(row)[column];
    if (entry <= kZero) continue;
    const double ratio = Row(row)[width_ - 1] / entry;
    const bool better = !found.has_value() || ratio < best - kNoise ||
                        (ratio <= best + kNoise && basis_[row] < basis_[*found]);
    if (!better) continue;
    best = found.has_value() ? std::min(best, ratio) : ratio;
    found = row;
  }
  return found;
}

bool LinearProgram::Improve(size_t columns) {
  const size_t most_steps = 20 * (equations_.size() + variables_) + 100;
  int without_gain = 0;
  for (size_t step = 0; step < most_steps && work_ < kMostWork; ++step) {
    const std::optional<size_t> column = Entering(columns, without_gain > kPatience);
    if (!column.has_value()) return true;
    const std::optional<size_t> row = Leaving(*column);
    if (!row.has_value()) return false;
    const double before = Row(equations_.size())[width_ - 1];
    Pivot(*row, *column);
    const bool gained = Row(equations_.size())[width_ - 1] > before + kZero;
    without_gain = gained ? 0 : without_gain + 1;
  }
  return false;
}

void LinearProgram::Pivot(size_t row, size_t column) {
  double* const pivot = Row(row);
  const double scale = 1 / pivot[column];
  filled_.clear();
  for (size_t place = 0; place < width_; ++place) {
    if (std::abs(pivot[place]) < kNoise) {
      pivot[place] = 0;
      continue;
    }
    pivot[place] *= scale;
    filled_.push_back(place);
  }
  for (size_t other = 0; other <= equations_.size(); ++other) {
    if (other == row) continue;
    double* const entries = Row(other);
    const double factor = entries[column];
    if (factor == 0) continue;
    for (const size_t place : filled_) entries[place] -= factor * pivot[place];
    work_ += filled_.size();
    entries[column] = 0;
    // Rounding must not make a value negative.
    if (other < equations_.size() && entries[width_ - 1] < 0) entries[width_ - 1] = 0;
  }
  pivot[column] = 1;
  basis_[row] = column;
}

void LinearProgram::SetCosts(const std::vector<double>& costs) {
  double* const row_of_costs = Row(equations_.size());
  std::fill(row_of_costs, row_of_costs + width_, 0);
  std::copy(costs.begin(), costs.end(), row_of_costs);
  for (size_t row = 0; row < equations_.size(); ++row) {
    if (basis_[row] >= variables_) continue;
    const double cost = costs[basis_[row]];
    if (cost == 0) continue;
    const double* const entries = Row(row);
    for (size_t place = 0; place < width_; ++place) row_of_costs[place] -= cost * entries[place];
  }
}

std::optional<double> LinearProgram::Minimum(const std::vector<double>& costs) {
  if (!solvable_ || costs.size() != variables_) return std::nullopt;
  SetCosts(costs);
  if (!Improve(first_artificial_)) return std::nullopt;
  return ProvedMinimum(costs);
}

// A price of each equation, such that no variable costs less than what its equations are worth:
// then the equations' values at these prices are a lower bound of the costs.
std::optional<double> LinearProgram::ProvedMinimum(const std::vector<double>& costs) const {
  const double* const reduced = Row(equations_.size());
  std::vector<double> left = costs;
  double minimum = 0;
  for (size_t row = 0; row < equations_.size(); ++row) {
    const Equation& equation = equations_[row];
    double price = -reduced[column_of_dual_[row]];
    // A slack costs nothing, so what it is worth is at most nothing.
    if (equation.slack > 0) price = std::min(price, 0.0);
    if (equation.slack < 0) price = std::max(price, 0.0);
    minimum += price * equation.value;
    for (const LinearTerm& term : equation.terms) left[term.variable] -= price * term.coefficient;
  }
  if (!std::isfinite(minimum)) return std::nullopt;
  double rounding = 0;
  for (const double cost : left) rounding += kLargestValue * std::max(0.0, -cost);
  if (!(rounding <= kMostLeft * (1 + std::abs(minimum)))) return std::nullopt;
  return minimum - rounding;
}

}  // namespace utlz
