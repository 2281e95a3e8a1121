// What the page of a server in the job said of it, over time. Totals go on where the server was
// started anew. Keeps the first and the last reading, and sums. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_APPLICATION_READINGS_H_
#define UTLZ_COLLECTOR_RUN_APPLICATION_READINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "proto/profile.pb.h"

namespace utlz {

class ApplicationReadings {
 public:
  static constexpr int kMostBuckets = 256;

  // False where the reading contradicts itself, or is no later than the last; then it has no
  // effect.
  bool Add(const ApplicationReading& reading);

  uint64_t count() const { return count_; }  // the next two only where it is not 0
  const ApplicationReading& first() const { return first_; }
  const ApplicationReading& last() const { return last_; }
  // Requests in the queue.
  std::optional<double> waiting_mean() const;
  std::optional<double> waiting_maximum() const { return waiting_maximum_; }

 private:
  uint64_t count_ = 0;
  ApplicationReading first_;
  ApplicationReading last_;  // its totals have grown from those of first_
  ApplicationReading raw_;   // the last one as it came
  double waiting_sum_ = 0;
  uint64_t waiting_count_ = 0;
  std::optional<double> waiting_maximum_;
};

// Time to first token that this share of the requests between two readings was within, in seconds:
// inside its bucket in proportion. Nothing where there was none, or in the bucket without a bound.
std::optional<double> FirstTokenSeconds(const ApplicationReading& from,
                                        const ApplicationReading& to, double share);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_APPLICATION_READINGS_H_
