// What counters that are set cost a GPU whose clock is limited by power, and whether they may stay
// set. From the moment that they are set until they are given up they take power, sampled or not: a
// training at the power limit of an H200 takes 1.2 % longer (docs/measurements/sampling.md).
// Steps also take some milliseconds longer while counters are being set and given up. Neither is
// charged where power does not limit the clock.
//
// An account fills with time and pays for both. When it is empty, counters are given up, and
// are set again once it can pay for that and for a second of windows. What it begins with is an
// advance: for some time after power first limits the clock it earns less.
//
// Pure arithmetic on the times that it is given, monotonic nanoseconds. Not thread safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_
#define UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_

#include <cstdint>

namespace utlz {

class PowerAccount {
 public:
  // Steps of a training took 1.3 ms more where counters were set, and 2.8 ms more where they were
  // given up (docs/measurements/sampling.md#what-do-counters-cost-that-are-set).
  static constexpr double kSettingLossNs = 4e6;
  // How long counters stay set at least, by what the account holds when it lets them be set.
  static constexpr double kLeastSetNs = 1e9;
  // The account begins with what it earns in this time, and holds no more. That pays for the first
  // two seconds of steps. In a simulation 1.6 times as much made reports no better, and 0.6 times
  // as much made some of them worse.
  static constexpr uint64_t kCreditTimeNs = 10'000'000'000;
  // It earns so much of its share for that long after power first limits the clock.
  static constexpr double kShareDuringAdvance = 0.5;
  // A limit is over when NVML has not reported it for this long.
  static constexpr uint64_t kLimitHoldsNs = 2'000'000'000;
  // Counters for which nobody plans a window for this long, or that may have none for so long, are
  // not wanted now: setting them takes 160 ms of a processor. A program that works for less than
  // this has not been planned for yet.
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
  // What the account earns from `begin_ns` to `end_ns`.
  double EarnedNs(uint64_t begin_ns, uint64_t end_ns) const;

  const uint32_t share_ppm_;
  uint64_t advanced_ns_;
  uint64_t advance_end_ns_ = 0;    // 0: power has not limited the clock yet
  uint64_t limited_since_ns_ = 0;  // without a break
  uint64_t limited_until_ns_ = 0;
  bool is_set_ = false;
  double credit_ns_;
  double lost_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_POWER_ACCOUNT_H_
