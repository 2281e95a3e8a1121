// What counters that are set cost a GPU whose clock is limited by power, and whether they may stay
// set. From the moment that they are set until they are given up they take power, sampled or not: a
// training at the power limit of an H200 takes 1.2 % longer. To set them holds programs up, too
// (docs/measurements/sampling.md). Where nothing limits the clock both cost next to nothing.
//
// An account fills with time and is drawn on by both. When it is empty, counters are given up, and
// are set again once it can pay for that and for a second of windows.
//
// Pure arithmetic on the times that it is given, monotonic nanoseconds. Not thread safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_
#define UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_

#include <cstdint>

namespace utlz {

class PowerAccount {
 public:
  // Setting counters held two steps of a training up for 78 ms in all.
  static constexpr double kSettingLossNs = 60e6;
  // For so long they stay set, at least, once they are.
  static constexpr double kLeastSetNs = 1e9;
  // What it begins with, and holds at most, is what it earns in this time: the first four seconds
  // of steps are sampled densely. Twice as much made reports no better (a simulation).
  static constexpr double kCreditTimeNs = 16e9;
  // A limit that NVML does not say again for this long is over.
  static constexpr uint64_t kLimitHoldsNs = 2'000'000'000;
  // Counters for which nobody plans a window for this long are not wanted now. A program that works
  // for less than this has not been planned for yet.
  static constexpr uint64_t kUnwantedNs = 2'000'000'000;

  // `share_ppm`: what counters may cost the GPU, in millionths of the time. 0: there is no limit.
  PowerAccount(uint32_t share_ppm, uint64_t now_ns);

  // NVML says that power, or heat, limits the clock now.
  void Limited(uint64_t now_ns);
  bool IsLimited(uint64_t now_ns) const { return now_ns < limited_until_ns_; }
  // Counters were set, or given up, since the last call; then the time until now is charged.
  void Set(uint64_t now_ns);
  void GivenUp(uint64_t now_ns);
  void Advance(uint64_t now_ns);

  // Whether counters that are set are to be given up: the account is empty, or they will not be
  // used soon. `start_ns`: when the next window may begin. `announced_ns`: when it could have been
  // planned from; 0: one is planned.
  bool IsToGiveUp(uint64_t now_ns, uint64_t start_ns, uint64_t announced_ns) const;
  // When counters that were given up may be set.
  uint64_t AffordsAtNs(uint64_t now_ns) const;

  // What the GPU has lost, as charged.
  double lost_ns() const { return lost_ns_; }

 private:
  void Charge(double loss_ns);

  const uint32_t share_ppm_;
  uint64_t advanced_ns_;
  uint64_t limited_since_ns_ = 0;  // without a break
  uint64_t limited_until_ns_ = 0;
  bool is_set_ = false;
  double credit_ns_;
  double lost_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_
