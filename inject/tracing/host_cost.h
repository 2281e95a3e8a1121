// By how much launches that were recorded from the start cost a program more than the least figure:
// it depends on how much the program does between two, and on whether its GPU waits
// (proto/tracing_cost.h). Agent's thread only.
#ifndef UTLZ_INJECT_TRACING_HOST_COST_H_
#define UTLZ_INJECT_TRACING_HOST_COST_H_

#include <cstdint>

#include "inject/record/recent_work.h"
#include "proto/tracing_cost.h"

namespace utlz::agent {

class HostCost {
 public:
  // Adds what was launched since the last call in whole pieces before `time_ns`, on the clock of
  // the records. The first call says from when on.
  void AddUntil(uint64_t time_ns, const RecentWork& recent) {
    const uint64_t end = time_ns / RecentWork::kPieceNs;
    if (next_piece_ == 0) next_piece_ = end;
    for (; next_piece_ < end; ++next_piece_) ns_ += Of(recent.Of(next_piece_));
  }

  uint64_t ns() const { return ns_; }

 private:
  static uint64_t Of(const WorkSums& work) {
    if (work.launches == 0) return 0;
    const auto time_ns = static_cast<double>(work.time_ns);
    const double felt_share = FeltShare(1 - static_cast<double>(work.busy_ns) / time_ns);
    const double between_ns = time_ns / static_cast<double>(work.launches);
    return work.launches * (TracedLaunchNs(felt_share, between_ns) - kTracedLaunchNs);
  }

  uint64_t next_piece_ = 0;
  uint64_t ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_HOST_COST_H_
