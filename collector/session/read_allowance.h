// How many bytes of one agent may be read by now: as many as come at a steady rate, and a burst
// beyond that. An agent that sends more fills its ring, drops what does not fit, and counts it.
//
// Times are of CLOCK_MONOTONIC. Thread safety: none.
#ifndef UTLZ_COLLECTOR_SESSION_READ_ALLOWANCE_H_
#define UTLZ_COLLECTOR_SESSION_READ_ALLOWANCE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace utlz {

class ReadAllowance {
 public:
  static constexpr double kBurstSeconds = 4;

  // 0: any rate.
  explicit ReadAllowance(uint64_t bytes_per_second)
      : bytes_per_second_(static_cast<double>(bytes_per_second)),
        left_bytes_(kBurstSeconds * bytes_per_second_) {}

  uint64_t LeftBytes(uint64_t now_ns) {
    if (bytes_per_second_ <= 0) return std::numeric_limits<uint64_t>::max();
    const double passed_s = static_cast<double>(now_ns - std::min(last_ns_, now_ns)) * 1e-9;
    // The first look only sets the clock.
    if (last_ns_ != 0) left_bytes_ += passed_s * bytes_per_second_;
    left_bytes_ = std::min(left_bytes_, kBurstSeconds * bytes_per_second_);
    last_ns_ = now_ns;
    if (left_bytes_ < 1) exhausted_ = true;
    return left_bytes_ < 1 ? 0 : static_cast<uint64_t>(left_bytes_);
  }

  // A frame more than was left may have been read: the rest is owed.
  void Spend(uint64_t bytes) { left_bytes_ -= static_cast<double>(bytes); }

  // Whether it ever was used up.
  bool exhausted() const { return exhausted_; }

 private:
  double bytes_per_second_;
  double left_bytes_;
  uint64_t last_ns_ = 0;
  bool exhausted_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_READ_ALLOWANCE_H_
