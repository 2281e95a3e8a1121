// How often planned windows come that an account has to pay for: as often as it can pay for what
// they cost on average. Were each to wait until the account has earned what the last one cost,
// those after dense work would come late and those after a pause soon, so that windows would meet
// some parts of a program's steps more often than others
// (docs/decisions/0075-windows-do-not-depend-on-what-they-meet.md).
//
// Agent's thread only.
#ifndef UTLZ_INJECT_TRACING_WINDOW_PACE_H_
#define UTLZ_INJECT_TRACING_WINDOW_PACE_H_

#include <cstdint>

namespace utlz::agent {

class WindowPace {
 public:
  // This class takes the mean cost of about the last 64 windows; later ones weigh more.
  static constexpr double kCostsAveraged = 64;
  // It knows no pace before it has seen four windows.
  static constexpr double kFewestWindows = 4;
  // The account should hold 5 ms when a window begins, in the mean of about the last eight.
  static constexpr double kAccountAtBeginNs = 5e6;
  static constexpr double kAccountsAveraged = 8;
  // An account that lacks 40 ms of that makes windows come half as often. A single window costs a
  // few milliseconds, so the pace hardly depends on which part of a step the last windows met.
  static constexpr double kLackForHalfPaceNs = 40e6;
  // What an account has beyond that is spent sooner: 30 ms make windows come four times as often.
  static constexpr double kSurplusForFastestNs = 30e6;

  // A planned window begins to be traced. `charged_ns`: what the account was charged with so far.
  void Begin(uint64_t now_ns, double charged_ns, double account_ns);

  // Whether enough windows have been seen.
  bool known() const { return windows_ >= kFewestWindows; }

  // When the next window may begin, if the account earns this share of the time. Call it only where
  // the pace is known.
  uint64_t NextNs(double share) const;

 private:
  uint64_t begun_ns_ = 0;  // the last window; 0: there was none
  double charged_ns_ = 0;  // when it began
  double account_ns_ = 0;  // when windows began: the mean
  double windows_ = 0;     // sum of their weights
  double cost_ns_ = 0;     // sum of their costs, weighted
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_WINDOW_PACE_H_
