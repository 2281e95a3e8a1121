#include "collector/sampler/power_account.h"

#include <algorithm>

#include "proto/tracing_cost.h"

namespace utlz {
namespace {

constexpr double kMillion = 1e6;
constexpr double kSettingAndUseNs =
    PowerAccount::kSettingLossNs + kSetCountersSlowdown * PowerAccount::kLeastSetNs;

// To set counters again costs as much as to keep them set for so long.
constexpr double kWorthSettingNs = PowerAccount::kSettingLossNs / kSetCountersSlowdown;

double CreditNs(uint32_t share_ppm) { return PowerAccount::kCreditTimeNs * share_ppm / kMillion; }

}  // namespace

PowerAccount::PowerAccount(uint32_t share_ppm, uint64_t now_ns)
    : share_ppm_(share_ppm), advanced_ns_(now_ns), credit_ns_(CreditNs(share_ppm)) {}

void PowerAccount::Limited(uint64_t now_ns) {
  Advance(now_ns);
  if (!IsLimited(now_ns)) limited_since_ns_ = now_ns;
  limited_until_ns_ = now_ns + kLimitHoldsNs;
}

void PowerAccount::Set(uint64_t now_ns) {
  Advance(now_ns);
  is_set_ = true;
  if (IsLimited(now_ns)) Charge(kSettingLossNs);
}

void PowerAccount::GivenUp(uint64_t now_ns) {
  Advance(now_ns);
  is_set_ = false;
}

void PowerAccount::Advance(uint64_t now_ns) {
  if (now_ns <= advanced_ns_) return;
  const uint64_t limited_end_ns = std::clamp(limited_until_ns_, advanced_ns_, now_ns);
  if (is_set_) {
    Charge(kSetCountersSlowdown * static_cast<double>(limited_end_ns - advanced_ns_));
  }
  // A small budget saves for longer, until it can pay once.
  const double most_ns = std::max(CreditNs(share_ppm_), kSettingAndUseNs);
  const double earned_ns = static_cast<double>(now_ns - advanced_ns_) * share_ppm_ / kMillion;
  credit_ns_ = std::min(most_ns, credit_ns_ + earned_ns);
  advanced_ns_ = now_ns;
}

bool PowerAccount::IsToGiveUp(uint64_t now_ns, uint64_t start_ns, uint64_t announced_ns) const {
  if (share_ppm_ == 0 || !IsLimited(now_ns)) return false;
  if (credit_ns_ <= 0) return true;
  if (now_ns <= limited_since_ns_ + kUnwantedNs) return false;
  const bool unwanted = announced_ns != 0 && now_ns > announced_ns + kUnwantedNs;
  return unwanted || static_cast<double>(start_ns - std::min(start_ns, now_ns)) > kWorthSettingNs;
}

uint64_t PowerAccount::AffordsAtNs(uint64_t now_ns) const {
  const double missing_ns = kSettingAndUseNs - credit_ns_;
  if (share_ppm_ == 0 || !IsLimited(now_ns) || missing_ns <= 0) return now_ns;
  return now_ns + static_cast<uint64_t>(missing_ns * kMillion / share_ppm_);
}

// A debt is bounded: counters that always have to stay set would need hours to pay it back.
void PowerAccount::Charge(double loss_ns) {
  credit_ns_ = std::max(credit_ns_ - loss_ns, -2 * kSettingAndUseNs);
  lost_ns_ += loss_ns;
}

}  // namespace utlz
