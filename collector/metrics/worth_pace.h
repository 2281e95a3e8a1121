// When to find out anew what launches are worth (worth_table.h). What costs hundreds of
// milliseconds is due where kernels are new, or launches or samples have grown by a quarter; else
// seldom. RenewalPace bounds the cost of both. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_WORTH_PACE_H_
#define UTLZ_COLLECTOR_METRICS_WORTH_PACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/metrics/renewal_pace.h"
#include "collector/run/run_state.h"

namespace utlz {

class WorthPace {
 public:
  static constexpr double kGrowth = 1.25;
  // Where it grew by less.
  static constexpr uint64_t kPauseNs = 10'000'000'000;
  // Where nothing came at all: what was found may have been of launches whose samples came later.
  static constexpr uint64_t kLongestPauseNs = 60'000'000'000;

  // Times of any clock that only grows.
  bool Due(const RunState& run_state, uint64_t now_ns) const;
  // It was found out anew, for so much processor time.
  void Renewed(const RunState& run_state, uint64_t now_ns, uint64_t cost_ns);

 private:
  struct Basis {
    size_t kernels = 0;
    uint64_t launches = 0;
    uint64_t samples = 0;  // of all GPUs

    bool operator==(const Basis&) const = default;
  };
  static Basis BasisOf(const RunState& run_state);

  RenewalPace pace_;
  std::optional<Basis> basis_;  // of the last time
  uint64_t renewed_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_WORTH_PACE_H_
