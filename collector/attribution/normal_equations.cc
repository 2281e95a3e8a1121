#include "collector/attribution/normal_equations.h"

namespace utlz::attribution {

NormalEquations::NormalEquations(size_t columns, size_t right_sides)
    : lower_(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(columns),
                                   static_cast<Eigen::Index>(columns))),
      right_(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(columns),
                                   static_cast<Eigen::Index>(right_sides))),
      square_sums_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(right_sides))) {}

void NormalEquations::AddRow(std::span<const RowPiece> pieces, std::span<const double> right,
                             double weight) {
  for (size_t a = 0; a < pieces.size(); ++a) {
    const RowPiece& left = pieces[a];
    for (uint32_t i = 0; i < left.count; ++i) {
      const double scaled = weight * left.values[i];
      if (scaled == 0) continue;
      const Eigen::Index column = left.first_column + i;
      for (size_t side = 0; side < right.size(); ++side) {
        right_(column, static_cast<Eigen::Index>(side)) += scaled * right[side];
      }
      // Column-major storage: the run of the other piece is contiguous below the diagonal.
      for (const RowPiece& other : pieces) {
        const uint32_t begin = other.first_column >= left.first_column + i
                                   ? 0
                                   : static_cast<uint32_t>(column) - other.first_column;
        if (begin >= other.count) continue;
        double* target = &lower_(other.first_column, column);
        for (uint32_t j = begin; j < other.count; ++j) target[j] += scaled * other.values[j];
      }
    }
  }
  for (size_t side = 0; side < right.size(); ++side) {
    square_sums_(static_cast<Eigen::Index>(side)) += weight * right[side] * right[side];
  }
  rows_ += 1;
}

void NormalEquations::Clear() {
  lower_.setZero();
  right_.setZero();
  square_sums_.setZero();
  rows_ = 0;
}

void NormalEquations::Add(const NormalEquations& other) {
  lower_ += other.lower_;
  right_ += other.right_;
  square_sums_ += other.square_sums_;
  rows_ += other.rows_;
}

}  // namespace utlz::attribution
