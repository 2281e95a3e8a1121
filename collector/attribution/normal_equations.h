// Sums of a least-squares problem whose rows stream by, and its non-negative solution.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_NORMAL_EQUATIONS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_NORMAL_EQUATIONS_H_

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>

namespace utlz::attribution {

// A run of neighbouring columns of one row.
struct RowPiece {
  uint32_t first_column = 0;
  uint32_t count = 0;
  const double* values = nullptr;
};

class NormalEquations {
 public:
  NormalEquations(size_t columns, size_t right_sides);

  // Adds one row with a right side each. Pieces ascend by column; runs of the same column may
  // repeat, their values add up. `weight` multiplies the row's square.
  void AddRow(std::span<const RowPiece> pieces, std::span<const double> right, double weight);

  void Clear();

  // The rows of `other`, of the same size, as well.
  void Add(const NormalEquations& other);

  size_t columns() const { return static_cast<size_t>(lower_.rows()); }
  size_t right_sides() const { return static_cast<size_t>(right_.cols()); }
  // Lower triangle; the upper one is not kept.
  const Eigen::MatrixXd& lower() const { return lower_; }
  const Eigen::MatrixXd& right() const { return right_; }
  double square_sum(size_t side) const { return square_sums_(static_cast<Eigen::Index>(side)); }
  double rows() const { return rows_; }

 private:
  Eigen::MatrixXd lower_;
  Eigen::MatrixXd right_;
  Eigen::VectorXd square_sums_;
  double rows_ = 0;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_NORMAL_EQUATIONS_H_
