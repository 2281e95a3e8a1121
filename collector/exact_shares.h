// Divides a whole number into whole parts whose sum it is, whatever rounding does.
#ifndef UTLZ_COLLECTOR_EXACT_SHARES_H_
#define UTLZ_COLLECTOR_EXACT_SHARES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace utlz {

class ExactShares {
 public:
  // Parts are in proportion to weights whose sum is `weights`. `total` is from 0 to 2^62.
  ExactShares(int64_t total, double weights) : total_(total), weights_(weights) {}

  // The next part. The last weight takes what is left, even where `weights` was rounded.
  int64_t Next(double weight, bool is_last) {
    weight_ += weight;
    const double share = weights_ > 0 ? std::fmin(1.0, weight_ / weights_) : 0;
    const int64_t until =
        is_last ? total_
                : std::min<int64_t>(total_, std::llround(static_cast<double>(total_) * share));
    const int64_t part = until - given_;
    given_ = until;
    return part;
  }

 private:
  int64_t total_;
  double weights_;
  double weight_ = 0;
  int64_t given_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_EXACT_SHARES_H_
