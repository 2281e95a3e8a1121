// What a GPU's time went to in the last seconds that are known: records come seconds late, so that
// these end before the newest message. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_TIME_HISTORY_H_
#define UTLZ_COLLECTOR_METRICS_TIME_HISTORY_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "collector/metrics/time_ledger.h"

namespace utlz {

class TimeHistory {
 public:
  static constexpr uint64_t kLengthNs = 15'000'000'000;

  // `now_ns`: of the run.
  void Add(const TimeSum& sum, uint64_t now_ns);

  // Since kLengthNs before the newest, or since the first that was added; of a single one, all of
  // it. A stretch that nothing has ended yet is idle for other reasons. Nothing where all that is
  // known is older than kLengthNs.
  std::optional<TimeSum> Growth() const;

 private:
  // Those nearer to each other are joined, so that slow clocks keep few.
  static constexpr uint64_t kLeastApartNs = 100'000'000;

  std::deque<TimeSum> sums_;  // in order of known_ns; at least one is older than kLengthNs
  uint64_t now_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_TIME_HISTORY_H_
