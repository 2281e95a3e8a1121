// Whether one rank keeps the others waiting: they spend more of the time in communication kernels
// than it does, since it comes late into collectives. Thread safety: none.
#ifndef UTLZ_COLLECTOR_ALARMS_RANK_WATCH_H_
#define UTLZ_COLLECTOR_ALARMS_RANK_WATCH_H_

#include <cstdint>
#include <map>
#include <utility>

#include "collector/alarms/condition.h"
#include "collector/alarms/readings.h"

namespace utlz {

class RankWatch {
 public:
  static constexpr uint64_t kBlockNs = 10'000'000'000;
  // Of the time, that the usual other rank waits more than the one that lags.
  static constexpr double kMostWait = 0.05;
  // Blocks in a row, before it is said.
  static constexpr int kBlocks = 3;

  Conditions Look(const Readings& readings);

 private:
  // What a rank did in the last block, as shares of the time.
  struct Rank {
    ProcessReading at_begin;
    double compute = 0;
    double communication = 0;
    bool known = false;
    int blocks = 0;  // in which it lagged, up to now
    uint64_t since_ns = 0;
    double wait = 0;          // of the others, beyond its own
    double more_compute = 0;  // than the usual other rank
  };

  void EndBlock(const Readings& readings);
  void Measure(const ProcessReading& process, Rank* rank);
  void Compare(uint64_t begin_ns);

  std::map<std::pair<uint32_t, uint32_t>, Rank> ranks_;  // by process and device
  uint64_t block_begin_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_RANK_WATCH_H_
