#include "collector/attribution/column_folding.h"

#include <algorithm>
#include <numeric>

namespace utlz::attribution {
namespace {

constexpr double kTooUncertain = 0.5;
constexpr double kOpposed = -0.9;

}  // namespace

ColumnFolding::ColumnFolding(size_t columns) : parents_(columns) {
  std::iota(parents_.begin(), parents_.end(), size_t{0});
}

size_t ColumnFolding::Root(size_t column) const {
  while (parents_[column] != column) column = parents_[column];
  return column;
}

void ColumnFolding::Join(size_t a, size_t b) {
  const size_t root_a = Root(a);
  const size_t root_b = Root(b);
  parents_[std::max(root_a, root_b)] = std::min(root_a, root_b);
}

std::vector<std::vector<size_t>> ColumnFolding::Groups() const {
  std::vector<std::vector<size_t>> by_root(parents_.size());
  for (size_t column = 0; column < parents_.size(); ++column) {
    by_root[Root(column)].push_back(column);
  }
  std::erase_if(by_root, [](const std::vector<size_t>& group) { return group.size() < 2; });
  return by_root;
}

bool Confounded(double total_a, double deviation_a, double total_b, double deviation_b,
                double correlation) {
  if (correlation > kOpposed || total_a + total_b <= 0) return false;
  return deviation_a > kTooUncertain * total_a && deviation_b > kTooUncertain * total_b &&
         std::max(deviation_a, deviation_b) > kTooUncertain * std::max(total_a, total_b);
}

}  // namespace utlz::attribution
