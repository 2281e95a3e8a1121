// Durations of one kernel variant: sum, extremes and quantiles, in memory that depends on the
// spread of the durations and not on their number.
//
// Buckets are logarithmic, 32 to an octave (3.1 % at most, interpolated inside), the first 64
// nanoseconds one by one. Only the span of buckets between the shortest and the longest duration is
// held. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_DURATION_HISTOGRAM_H_
#define UTLZ_COLLECTOR_RUN_DURATION_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace utlz {

class DurationHistogram {
 public:
  void Add(uint64_t duration_ns);

  uint64_t count() const { return count_; }
  uint64_t sum_ns() const { return sum_ns_; }
  uint64_t minimum_ns() const { return minimum_ns_; }
  uint64_t maximum_ns() const { return maximum_ns_; }
  double mean_ns() const;
  // Square root of the variance of one duration; 0 for fewer than two.
  double standard_deviation_ns() const;
  // Those between the two (minimum included, maximum not), to within a bucket. The sums of slices
  // that leave nothing out add up to the whole's.
  DurationHistogram Slice(uint64_t minimum_ns, uint64_t maximum_ns) const;
  // `share` in 0…1. 0 when empty.
  double QuantileNs(double share) const;

 private:
  uint64_t count_ = 0;
  uint64_t sum_ns_ = 0;
  double sum_of_squares_ = 0;
  uint64_t minimum_ns_ = UINT64_MAX;
  uint64_t maximum_ns_ = 0;
  uint32_t first_bucket_ = 0;
  std::vector<uint64_t> buckets_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_DURATION_HISTOGRAM_H_
