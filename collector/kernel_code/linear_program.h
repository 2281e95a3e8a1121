// Small linear programs: the least value of a sum of variables that are not negative, where other
// sums of them lie between bounds. An own simplex: decision 0061 has the reasons.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_LINEAR_PROGRAM_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_LINEAR_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace utlz {

struct LinearTerm {
  size_t variable = 0;
  double coefficient = 0;
};

// least <= the sum of the terms <= most; equal bounds fix it, infinite ones leave it open.
struct LinearRow {
  std::vector<LinearTerm> terms;
  double least = 0;
  double most = 0;
};

class LinearProgram {
 public:
  // Takes memory by the square of the rows and variables: 48 MiB at most, beyond which nothing is
  // solved, nor after a second or so. Values are best near 1, and are not expected above a million.
  LinearProgram(size_t variables, const std::vector<LinearRow>& rows);

  // The least value of the sum of costs × variables. Absent where no values fulfil the rows, where
  // it has no least value, or where rounding leaves it in doubt: what is returned is proved by the
  // dual program, so it is never too large by more than rounding.
  std::optional<double> Minimum(const std::vector<double>& costs);

 private:
  struct Equation {
    std::vector<LinearTerm> terms;
    double value = 0;
    double slack = 0;  // its sign: 1 where the terms may be less, -1 where more, 0 for neither
  };

  void AddEquation(const std::vector<LinearTerm>& terms, double value, double slack);
  bool MakeTableau();
  bool FindAnyValues();
  bool Improve(size_t columns);
  std::optional<size_t> Entering(size_t columns, bool first) const;
  std::optional<size_t> Leaving(size_t column) const;
  void Pivot(size_t row, size_t column);
  void RemoveArtificial();
  void SetCosts(const std::vector<double>& costs);
  std::optional<double> ProvedMinimum(const std::vector<double>& costs) const;

  double* Row(size_t row) { return tableau_.data() + row * width_; }
  const double* Row(size_t row) const { return tableau_.data() + row * width_; }

  const size_t variables_;
  std::vector<Equation> equations_;
  // Columns: the variables, a slack of each equation that has one, an artificial variable of each
  // that needs one to begin with, the value. The last row holds the costs.
  std::vector<double> tableau_ = {};
  std::vector<size_t> basis_ = {};           // by row: the column that it gives the value of
  std::vector<size_t> column_of_dual_ = {};  // by equation: the column that shows its price
  size_t first_artificial_ = 0;
  size_t width_ = 0;
  std::vector<size_t> filled_ = {};  // scratch of Pivot
  uint64_t work_ = 0;
  bool solvable_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_LINEAR_PROGRAM_H_
