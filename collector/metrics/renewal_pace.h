// When to find out anew what costs much to find out, such as what launches are worth. An account
// fills with a share of the time that passes and pays for each renewal, so that renewals take 0.5 %
// of a core in the long run. It holds enough for a run's beginning, where everything is new. Thread
// safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_RENEWAL_PACE_H_
#define UTLZ_COLLECTOR_METRICS_RENEWAL_PACE_H_

#include <algorithm>
#include <cstdint>

namespace utlz {

class RenewalPace {
 public:
  static constexpr uint64_t kShortestPauseNs = 1'000'000'000;
  // Of processor time, on any one core.
  static constexpr double kShare = 0.005;
  static constexpr double kMostSavedNs = 1e9;

  bool Due(uint64_t now_ns) const {
    return !renewed_ || (now_ns >= last_ns_ + kShortestPauseNs && Saved(now_ns) >= 0);
  }
  // It was found out anew, for so much processor time.
  void Renewed(uint64_t now_ns, uint64_t cost_ns) {
    saved_ns_ = Saved(now_ns) - static_cast<double>(cost_ns);
    last_ns_ = now_ns;
    renewed_ = true;
  }

 private:
  double Saved(uint64_t now_ns) const {
    const double passed_ns = renewed_ ? static_cast<double>(now_ns - last_ns_) : 0;
    return std::min(kMostSavedNs, saved_ns_ + kShare * passed_ns);
  }

  double saved_ns_ = kMostSavedNs;
  uint64_t last_ns_ = 0;
  bool renewed_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_RENEWAL_PACE_H_
