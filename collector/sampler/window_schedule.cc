#include "collector/sampler/window_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace utlz {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr double kMillion = 1e6;

// Time until an account that fills at `ppm` millionths holds something again.
double WaitForCredit(double credit_ns, double ppm) {
  return credit_ns >= 0 ? 0 : -credit_ns * kMillion / ppm;
}

constexpr double kLongestPauseNs = 86'400e9;
constexpr double kShareWhileOwing = 0.5;
// Of what comes in before the load is steady, and of what setting up leaves of the credit.
constexpr double kKeptShare = 0.75;
// Of the credit: some 25,000 samples. The attribution chooses the kernels that it keeps apart from
// the first 65,536 (attribution/options.h), and most of these are to be of the steps.
constexpr double kMostEarlyShare = 0.5;
// Of the credit: what is left keeps windows coming, however long the start-up lasts.
constexpr double kMostKept = 0.9;

}  // namespace

WindowSchedule::WindowSchedule(const WindowScheduleOptions& options, uint64_t now_ns)
    : options_(options),
      begun_ns_(now_ns),
      refilled_ns_(now_ns),
      next_start_ns_(options.duty_ppm == 0 ? kNever : now_ns),
      window_ns_(options.window_ns),
      on_credit_ns_(static_cast<double>(options.duty_burst_ns)),
      cpu_credit_ns_(static_cast<double>(options.cpu_burst_ns)),
      collectors_credit_ns_(static_cast<double>(options.cpu_burst_ns)),
      reserve_ns_(static_cast<double>(options.steady_reserve_ns)),
      early_left_ns_(kMostEarlyShare * static_cast<double>(options.cpu_burst_ns)),
      random_state_(options.seed | 1) {}

uint64_t WindowSchedule::window_ns() const {
  // Where idle cores pay, the time of the records is what is scarce. Elsewhere it is CPU time, and
  // short windows spread it.
  const bool short_one = idle_ && !(hurried_ && IdlePays());
  return short_one ? std::min(window_ns_, options_.idle_window_ns) : window_ns_;
}

void WindowSchedule::Finished(uint64_t now_ns, uint64_t on_ns, uint64_t cpu_ns, bool idle) {
  Refill(now_ns);
  on_credit_ns_ -= static_cast<double>(on_ns);
  cpu_credit_ns_ -= static_cast<double>(cpu_ns);
  if (early()) SpentEarly(cpu_ns);
  idle_ = idle;
  if (!idle) window_ns_ = std::min(options_.window_ns, window_ns_ + window_ns_ / 16);
  PlanNext(now_ns);
}

// Once early windows have spent theirs, the rest of the credit waits for steady steps.
void WindowSchedule::SpentEarly(uint64_t cpu_ns) {
  if (early_left_ns_ <= 0) return;
  early_left_ns_ -= static_cast<double>(cpu_ns);
  if (early_left_ns_ > 0 || reserve_ns_ == 0) return;
  reserve_ns_ = kMostKept * static_cast<double>(options_.cpu_burst_ns);
}

void WindowSchedule::Overflowed() {
  window_ns_ = std::max(options_.minimum_window_ns, window_ns_ / 2);
}

void WindowSchedule::SetUp(uint64_t cpu_ns) {
  Spent(cpu_ns);
  reserve_ns_ = std::min(reserve_ns_, std::max(0.0, kKeptShare * cpu_credit_ns_));
}

void WindowSchedule::SpentByCollectors(uint64_t now_ns, uint64_t cpu_ns) {
  Refill(now_ns);
  collectors_credit_ns_ -= static_cast<double>(cpu_ns);
  const double drawn_ns = std::clamp(-collectors_credit_ns_, 0.0, idle_earned_ns_);
  collectors_credit_ns_ = std::max(0.0, collectors_credit_ns_);
  idle_earned_ns_ -= drawn_ns;
  cpu_credit_ns_ -= drawn_ns;
}

void WindowSchedule::SetDuty(uint64_t now_ns, uint32_t duty_ppm) {
  Refill(now_ns);
  options_.duty_ppm = duty_ppm;
  PlanNext(now_ns);
}

void WindowSchedule::SetCpuBudget(uint64_t now_ns, uint32_t cpu_budget_ppm) {
  Refill(now_ns);
  options_.cpu_budget_ppm = cpu_budget_ppm;
  PlanNext(now_ns);
}

void WindowSchedule::SetIdleCpu(uint64_t now_ns, uint32_t idle_ppm) {
  if (idle_ppm == idle_cpu_ppm_) return;
  Refill(now_ns);
  idle_cpu_ppm_ = idle_ppm;
  PlanSooner(now_ns);
}

void WindowSchedule::SetSteady(uint64_t now_ns, bool steady) {
  if (steady == steady_) return;
  Refill(now_ns);
  steady_ = steady;
  reserve_ns_ = static_cast<double>(options_.steady_reserve_ns);
  PlanSooner(now_ns);
}

void WindowSchedule::SetHurried(uint64_t now_ns, bool hurried) {
  if (hurried == hurried_) return;
  Refill(now_ns);
  hurried_ = hurried;
  PlanSooner(now_ns);
}

// What was planned under other terms still holds where it comes first.
void WindowSchedule::PlanSooner(uint64_t now_ns) {
  const uint64_t before_ns = next_start_ns_;
  PlanNext(now_ns);
  next_start_ns_ = std::min(next_start_ns_, std::max(now_ns, before_ns));
}

double WindowSchedule::SpendableCpuNs() const {
  return cpu_credit_ns_ - (steady_ ? 0 : reserve_ns_);
}

void WindowSchedule::RequestWindow(uint64_t now_ns) {
  if (options_.duty_ppm == 0) return;
  Refill(now_ns);
  idle_ = false;
  // Overdrawn by no more than a window costs; a caller cannot spend what was not granted.
  const double limit = -static_cast<double>(options_.window_ns);
  if (on_credit_ns_ < limit || (options_.cpu_budget_ppm != 0 && SpendableCpuNs() < limit)) return;
  next_start_ns_ = std::min(next_start_ns_, now_ns);
}

bool WindowSchedule::OwesCredit(uint64_t now_ns) const {
  const double repaid_ns = static_cast<double>(now_ns - begun_ns_) * (1 - kShareWhileOwing) *
                           options_.cpu_budget_ppm / kMillion;
  return repaid_ns < static_cast<double>(options_.cpu_burst_ns);
}

double WindowSchedule::CpuSharePpm(uint64_t now_ns) const {
  const double share_ppm = (OwesCredit(now_ns) ? kShareWhileOwing : 1) * options_.cpu_budget_ppm;
  return IdlePays() ? std::max<double>(share_ppm, idle_cpu_ppm_) : share_ppm;
}

// Of what comes in, what is put by for steady steps. What idle cores pay is not: in a hurry it is
// there to be spent.
double WindowSchedule::KeptSharePpm(uint64_t now_ns) const {
  if (steady_ || options_.steady_reserve_ns == 0) return 0;
  return kKeptShare * std::min<double>(CpuSharePpm(now_ns), options_.cpu_budget_ppm);
}

double WindowSchedule::ShortestPauseNs() const {
  // Reading a window takes longer than the window; nobody gains by a longer pause.
  if (Hurries()) return 0;
  return static_cast<double>(idle_ ? options_.idle_pause_ns : options_.minimum_pause_ns);
}

void WindowSchedule::Refill(uint64_t now_ns) {
  if (now_ns <= refilled_ns_) return;
  const double elapsed_ns = static_cast<double>(now_ns - refilled_ns_);
  refilled_ns_ = now_ns;
  on_credit_ns_ = std::min(static_cast<double>(options_.duty_burst_ns),
                           on_credit_ns_ + elapsed_ns * options_.duty_ppm / kMillion);
  const auto most_ns = static_cast<double>(options_.cpu_burst_ns);
  const double earned_ns = elapsed_ns * CpuSharePpm(now_ns) / kMillion;
  const double kept_ns = elapsed_ns * KeptSharePpm(now_ns) / kMillion;
  const double share_ns = elapsed_ns * options_.cpu_budget_ppm / kMillion;
  cpu_credit_ns_ = std::min(most_ns, cpu_credit_ns_ + earned_ns);
  collectors_credit_ns_ = std::min(most_ns, collectors_credit_ns_ + share_ns);
  idle_earned_ns_ = std::min(most_ns, idle_earned_ns_ + std::max(0.0, earned_ns - share_ns));
  if (!steady_ && reserve_ns_ > 0) {
    reserve_ns_ =
        std::min(static_cast<double>(options_.cpu_burst_ns) * kMostKept, reserve_ns_ + kept_ns);
  }
}

void WindowSchedule::PlanNext(uint64_t now_ns) {
  if (options_.duty_ppm == 0) {
    next_start_ns_ = kNever;
    return;
  }
  double pause_ns = WaitForCredit(on_credit_ns_, options_.duty_ppm);
  if (options_.cpu_budget_ppm != 0) {
    const double spendable_ppm = CpuSharePpm(now_ns) - KeptSharePpm(now_ns);
    pause_ns = std::max(pause_ns, WaitForCredit(SpendableCpuNs(), spendable_ppm));
    pause_ns = std::max(pause_ns, ShortestPauseNs());
    // Never shorter than the accounts ask for; up to a quarter longer.
    pause_ns *= 1 + NextDither() / 4;
  }
  // Where no credit comes in, the account asks for a pause that a clock cannot hold.
  next_start_ns_ = now_ns + static_cast<uint64_t>(std::min(pause_ns, kLongestPauseNs));
}

// Uniform in [0, 1): xorshift.
double WindowSchedule::NextDither() {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return static_cast<double>(random_state_ >> 11) * 0x1p-53;
}

}  // namespace utlz
