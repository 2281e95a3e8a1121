// Finds columns that the samples so far cannot tell apart.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_FOLDING_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_FOLDING_H_

#include <cstddef>
#include <vector>

namespace utlz::attribution {

// Collects pairs and joins them into groups.
class ColumnFolding {
 public:
  explicit ColumnFolding(size_t columns);

  void Join(size_t a, size_t b);

  // Groups of two and more columns; each ascends, by their first column.
  std::vector<std::vector<size_t>> Groups() const;

 private:
  size_t Root(size_t column) const;

  std::vector<size_t> parents_;
};

// Whether two columns' totals are confounded: each is uncertain by more than half of itself while
// their sum is known, because what one gains the other loses. Deviations are of the totals.
bool Confounded(double total_a, double deviation_a, double total_b, double deviation_b,
                double correlation);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_FOLDING_H_
