#include "collector/sampler/power_account.h"

#include <algorithm>

#include "proto/tracing_cost.h"

namespace utlz {
namespace {

constexpr double kMillion = 1e6;
constexpr double kSettingAndUseNs =
    PowerAccount::kSettingLossNs + kSetCountersSlowdown * PowerAccount::kLeastSetNs;

double CreditNs(uint32_t share_ppm) {
  return static_cast<double>(PowerAccount::kCreditTimeNs) * share_ppm / kMillion;
}

}  // namespace

PowerAccount::PowerAccount(uint32_t share_ppm, uint64_t now_ns)
    : share_ppm_(share_ppm), advanced_ns_(now_ns), credit_ns_(CreditNs(share_ppm)) {}

void PowerAccount::Limited(uint64_t now_ns) {
  Advance(now_ns);
  if (!IsLimited(now_ns)) limited_since_ns_ = now_ns;
  if (advance_end_ns_ == 0) advance_end_ns_ = now_ns + kCreditTimeNs;
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
  credit_ns_ = std::min(most_ns, credit_ns_ + EarnedNs(advanced_ns_, now_ns));
  advanced_ns_ = now_ns;
}

bool PowerAccount::IsToGiveUp(uint64_t now_ns, uint64_t start_ns, uint64_t announced_ns) const {
  if (share_ppm_ == 0 || !IsLimited(now_ns)) return false;
  if (credit_ns_ <= 0) return true;
  if (now_ns <= limited_since_ns_ + kUnwantedNs) return false;
  const bool unwanted = announced_ns != 0 && now_ns > announced_ns + kUnwantedNs;
  return unwanted || start_ns > now_ns + kUnwantedNs;
}

uint64_t PowerAccount::AffordsAtNs(uint64_t now_ns) const {
  const double missing_ns = kSettingAndUseNs - credit_ns_;
  if (share_ppm_ == 0 || !IsLimited(now_ns) || missing_ns <= 0) return now_ns;
  const uint64_t advance_end_ns = std::max(advance_end_ns_, now_ns);
  const double in_advance_ns = EarnedNs(now_ns, advance_end_ns);
  const double by_share = kMillion / share_ppm_;
  if (missing_ns > in_advance_ns) {
    return advance_end_ns + static_cast<uint64_t>((missing_ns - in_advance_ns) * by_share);
  }
  return now_ns + static_cast<uint64_t>(missing_ns * by_share / kShareDuringAdvance);
}

double PowerAccount::EarnedNs(uint64_t begin_ns, uint64_t end_ns) const {
  const uint64_t advance_end_ns = std::clamp(advance_end_ns_, begin_ns, end_ns);
  const double whole_ns = static_cast<double>(end_ns - advance_end_ns) +
                          kShareDuringAdvance * static_cast<double>(advance_end_ns - begin_ns);
  return whole_ns * share_ppm_ / kMillion;
}

// A debt is bounded: counters that always have to stay set would need hours to pay it back.
void PowerAccount::Charge(double loss_ns) {
  credit_ns_ = std::max(credit_ns_ - loss_ns, -2 * kSettingAndUseNs);
  lost_ns_ += loss_ns;
}

}  // namespace utlz
