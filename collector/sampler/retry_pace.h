// When to try again for counters that somebody else has: with longer and longer pauses, but soon
// where only a lock is asked for, which costs next to nothing. Times are monotonic nanoseconds.
// Not thread-safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_RETRY_PACE_H_
#define UTLZ_COLLECTOR_SAMPLER_RETRY_PACE_H_

#include <algorithm>
#include <cstdint>

namespace utlz {

class RetryPace {
 public:
  static constexpr uint64_t kFirstPauseNs = 1'000'000'000;
  static constexpr uint64_t kLongestPauseNs = 30'000'000'000;
  static constexpr uint64_t kLeasePauseNs = 500'000'000;

  explicit RetryPace(uint64_t now_ns) : next_ns_(now_ns) {}

  uint64_t next_ns() const { return next_ns_; }
  void At(uint64_t time_ns) { next_ns_ = time_ns; }
  // Another utlz has the lease.
  void AfterLease(uint64_t now_ns) { next_ns_ = now_ns + kLeasePauseNs; }
  // CUPTI or the driver refused.
  void AfterFailure(uint64_t now_ns) {
    next_ns_ = now_ns + pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
  }
  // A window brought samples.
  void Works() { pause_ns_ = kFirstPauseNs; }

 private:
  uint64_t next_ns_;
  uint64_t pause_ns_ = kFirstPauseNs;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_RETRY_PACE_H_
