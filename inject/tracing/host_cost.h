// What recorded launches cost a program beyond kTracedLaunchNs each. The more the program does
// between two launches, the colder the caches are in which CUPTI records the next one
// (proto/tracing_cost.h). Agent's thread only.
#ifndef UTLZ_INJECT_TRACING_HOST_COST_H_
#define UTLZ_INJECT_TRACING_HOST_COST_H_

#include <cstdint>

#include "inject/record/recent_work.h"
#include "proto/tracing_cost.h"

namespace utlz::agent {

class HostCost {
 public:
  // Adds the cost of all launches between the last call's time and `time_ns`, on the clock of the
  // records, in whole pieces. The first call only sets where to begin. A clock that was set forward
  // by years costs no more than the pieces that are kept.
  void AddUntil(uint64_t time_ns, const RecentWork& recent) {
    const uint64_t end = time_ns / RecentWork::kPieceNs;
    if (next_piece_ == 0) next_piece_ = end;
    if (end > next_piece_ + RecentWork::kPieces) next_piece_ = end - RecentWork::kPieces;
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
