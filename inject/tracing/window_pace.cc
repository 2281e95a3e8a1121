#include "inject/tracing/window_pace.h"

#include <algorithm>

namespace utlz::agent {
namespace {

// The least and the most wait ÷ the wait that the mean cost asks for.
constexpr double kLeastWait = 0.25;
constexpr double kMostWait = 4;

}  // namespace

void WindowPace::Begin(uint64_t now_ns, double charged_ns, double account_ns) {
  if (begun_ns_ != 0) {
    const double kept = windows_ < kCostsAveraged ? 1 : 1 - 1 / kCostsAveraged;
    windows_ = kept * windows_ + 1;
    cost_ns_ = kept * cost_ns_ + charged_ns - charged_ns_;
  }
  begun_ns_ = now_ns;
  charged_ns_ = charged_ns;
  account_ns_ += (account_ns - account_ns_) / std::min(windows_ + 1, kAccountsAveraged);
}

uint64_t WindowPace::NextNs(double share) const {
  const double lack_ns = kAccountAtBeginNs - account_ns_;
  const double longer = lack_ns > 0 ? lack_ns / kLackForHalfPaceNs
                                    : (1 - kLeastWait) * lack_ns / kSurplusForFastestNs;
  const double wait = std::clamp(1 + longer, kLeastWait, kMostWait);
  return begun_ns_ + static_cast<uint64_t>(wait * cost_ns_ / windows_ / share);
}

}  // namespace utlz::agent
