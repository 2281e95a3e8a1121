// Which set of metrics the next window samples: the base set, the extended one, or that of
// instructions. A sample of the others costs more than one of the base set, and changing the set
// 0.2 s of CPU and wall time. So windows of the others are few and follow each other, once a round.
//
// A collector says whether the base set's counters are known well. Until they are, a base sample
// makes the largest error of a report smaller, and one of the others does not. Where no collector
// says anything, the base set has the first windows, enough for a short attachment.
//
// Pure decisions. Not thread safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_SET_TURNS_H_
#define UTLZ_COLLECTOR_SAMPLER_SET_TURNS_H_

#include <algorithm>
#include <cstdint>

namespace utlz {

enum class SampledSet { kBase, kExtended, kInstructions };

class SetTurns {
 public:
  static constexpr uint64_t kFirstBaseWindows = 12;
  // While a collector says that the base set is not known well: some ten seconds of dense windows.
  // What stays uncertain for longer, more windows do not help much.
  static constexpr uint64_t kMostFirstBaseWindows = 120;
  static constexpr uint64_t kExtendedWindows = 4;
  static constexpr uint64_t kInstructionWindows = 4;
  static constexpr uint64_t kWindowsPerRound = 40;

  SampledSet next() const {
    if (busy_windows_ < first_base_windows_) return SampledSet::kBase;
    const uint64_t window = (busy_windows_ - first_base_windows_) % kWindowsPerRound;
    if (window < kExtendedWindows) return SampledSet::kExtended;
    return window < kExtendedWindows + kInstructionWindows ? SampledSet::kInstructions
                                                           : SampledSet::kBase;
  }

  // A window ended in which the GPU computed. Idle ones, as while a program starts, do not count.
  void BusyWindow() { ++busy_windows_; }

  // Whether the base set's counters are known well, as a collector says. Once the others have
  // had their first turn, rounds go on as they are.
  void BaseKnown(bool known) {
    if (busy_windows_ >= first_base_windows_) return;
    first_base_windows_ =
        known ? std::max(busy_windows_, kFirstBaseWindows) : kMostFirstBaseWindows;
  }

 private:
  uint64_t busy_windows_ = 0;
  uint64_t first_base_windows_ = kFirstBaseWindows;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SET_TURNS_H_
