// What was counted elsewhere, made to grow only: a total that shrinks (its
// process lied, or an estimate was revised) takes nothing away. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_GROWING_COUNT_H_
#define UTLZ_COLLECTOR_METRICS_GROWING_COUNT_H_

#include <algorithm>

namespace utlz {

// A counter whose source begins anew where it shrinks: what it grows by from there on counts.
class GrowingCount {
 public:
  // Returns what it has grown by.
  double Update(double total) {
    const double growth = std::max(0.0, total - last_);
    last_ = total;
    value_ += growth;
    return growth;
  }
  double value() const { return value_; }

 private:
  double last_ = 0;
  double value_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_GROWING_COUNT_H_
