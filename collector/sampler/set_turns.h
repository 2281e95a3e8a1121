// Which set of metrics the next window samples: the base set, or the extended one. A sample of the
// extended set costs twice as much as one of the base set, and changing the set 0.2 s of CPU and
// wall time. So extended windows are few and follow each other, once a round, and come only when
// the base set has seen enough for a short visit.
//
// Pure decisions. Not thread safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_SET_TURNS_H_
#define UTLZ_COLLECTOR_SAMPLER_SET_TURNS_H_

#include <cstdint>

namespace utlz {

enum class SampledSet { kBase, kExtended };

class SetTurns {
 public:
  static constexpr uint64_t kFirstBaseWindows = 12;
  static constexpr uint64_t kExtendedWindows = 4;
  static constexpr uint64_t kWindowsPerRound = 40;

  SampledSet next() const {
    const uint64_t window = busy_windows_ % kWindowsPerRound;
    const bool extended =
        window >= kFirstBaseWindows && window < kFirstBaseWindows + kExtendedWindows;
    return extended ? SampledSet::kExtended : SampledSet::kBase;
  }

  // A window ended in which the GPU computed. Idle ones, as while a program starts, do not count.
  void BusyWindow() { ++busy_windows_; }

 private:
  uint64_t busy_windows_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SET_TURNS_H_
