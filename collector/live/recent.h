// Keeps the states of a growing count over the last 15 seconds. A rate is the newest state less the
// oldest, over span_ns(). Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_RECENT_H_
#define UTLZ_COLLECTOR_LIVE_RECENT_H_

#include <cstdint>
#include <deque>
#include <utility>

namespace utlz {

template <typename State>
class Recent {
 public:
  static constexpr uint64_t kLengthNs = 15'000'000'000;

  void Add(uint64_t time_ns, State state) {
    states_.emplace_back(time_ns, std::move(state));
    while (states_.size() > 2 && states_[1].first + kLengthNs <= time_ns) states_.pop_front();
  }

  bool spans() const { return states_.size() > 1 && span_ns() > 0; }
  uint64_t span_ns() const { return states_.back().first - states_.front().first; }
  const State& oldest() const { return states_.front().second; }
  const State& newest() const { return states_.back().second; }

 private:
  std::deque<std::pair<uint64_t, State>> states_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_RECENT_H_
