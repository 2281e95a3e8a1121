// What counters that are set cost a GPU whose clock is limited by power, and whether they may stay
// set. From the moment that they are set until they are given up they take power, sampled or not: a
// training at the power limit of an H200 takes 1.2 % longer (docs/measurements/sampling.md).
// Programs may also wait while counters are being set. Neither is charged where power does not
// limit the clock.
//
// An account fills with time and pays for both. When it is empty, counters are given up, and
// are set again once it can pay for that and for a second of windows.
//
// Pure arithmetic on the times that it is given, monotonic nanoseconds. Not thread safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_
#define UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_

#include <cstdint>

namespace utlz {

class PowerAccount {
 public:
  // An estimate: in one training two steps took 78 ms more where the counters were set anew, once
  // or twice (docs/decisions/0081-counters-rest-where-power-limits-the-clock.md).
  static constexpr double kSettingLossNs = 60e6;
  // How long counters stay set at least, by what the account holds when it lets them be set.
  static constexpr double kLeastSetNs = 1e9;
  // The account begins with what it earns in this time, and holds no more. That pays for the first
  // four seconds of steps. In a simulation 2.5 times as much made reports no better.
  static constexpr double kCreditTimeNs = 16e9;
  // A limit is over when NVML has not reported it for this long.
  static constexpr uint64_t kLimitHoldsNs = 2'000'000'000;
  // Counters for which nobody plans a window for this long are not wanted now. A program that works
  // for less than this has not been planned for yet.
  static constexpr uint64_t kUnwantedNs = 2'000'000'000;

  // `share_ppm`: what counters may cost the GPU, in millionths of the time. 0: there is no limit.
  PowerAccount(uint32_t share_ppm, uint64_t now_ns);

  // NVML says that power, or heat, limits the clock now.
  void Limited(uint64_t now_ns);
  bool IsLimited(uint64_t now_ns) const { return now_ns < limited_until_ns_; }
  // The sampler has set the counters.
  void Set(uint64_t now_ns);
  // It has given them up.
  void GivenUp(uint64_t now_ns);
  // Earns for, and charges, the time until now.
  void Advance(uint64_t now_ns);

  // Whether counters that are set are to be given up: the account is empty, or they will not be
  // used soon. `start_ns`: when the next window may begin. `announced_ns`: from when on the
  // sampler has offered one; 0: it has not since the last window.
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
