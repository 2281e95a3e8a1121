#include "inject/tracing/trace_budget.h"

#include <algorithm>

namespace utlz::agent {
namespace {

double Between(uint64_t begin_ns, uint64_t end_ns) {
  return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) : 0;
}

}  // namespace

void TraceBudget::Start(uint64_t now_ns, uint32_t budget_ppm) {
  budget_ppm_ = budget_ppm;
  last_ns_ = on_since_ns_ = now_ns;
  advance_end_ns_ = attached_ ? now_ns : now_ns + kAdvanceNs;
  credit_ns_ = attached_ ? kAttachmentCreditNs : CreditNs(budget_ppm);
  most_ns_ = attached_ ? credit_ns_ : kMostSaved * credit_ns_;
  account_ns_ = static_cast<double>(credit_ns_);
}

double TraceBudget::Share() const {
  const double budget = budget_ppm_ / 1e6;
  if (severe_) return kShareWhereSevere * budget;
  if (begins_ || attached_) return kShareForTracing * budget;
  const bool advance = last_ns_ < advance_end_ns_;
  const double share = (advance ? kShareDuringAdvance : kShareForTracing) * budget;
  return std::max(share - hook_share_, kLeastShare * budget);
}

bool TraceBudget::ShouldTrace(uint64_t now_ns, uint64_t launches, uint64_t graph_nodes,
                              const PlannedWindow& window) {
  Settle(now_ns, launches, graph_nodes, window);
  if (budget_ppm_ == 0) return true;
  const bool inside = window.begin_ns <= now_ns && now_ns < window.end_ns;
  const bool was_tracing = tracing_;
  if (tracing_) {
    tracing_ = GoesOn(inside);
  } else if (inside) {
    tracing_ = account_ns_ >= -static_cast<double>(MostDebtNs() + window.overdraft_ns);
  } else {
    tracing_ = BeginsOutside(now_ns, window);
  }
  if (tracing_ && inside) was_unplanned_ = window.overdraft_ns != 0;
  if (tracing_ && !was_tracing) {
    on_since_ns_ = now_ns;
    off_since_ns_ = 0;
    charged_before_ns_ = charged_ns_;
  } else if (!tracing_ && was_tracing) {
    off_since_ns_ = now_ns;
    // If windows follow after all, they do not have to pay for that.
    if (begins_ && !beginning_.windows_follow) account_ns_ = std::max(account_ns_, 0.0);
    begins_ = false;
  }
  const bool in_window = inside && window.begin_ns <= on_since_ns_ + kMostAheadNs;
  if (tracing_ && in_window && !opened_for_window_ && window.overdraft_ns == 0) {
    pace_.Begin(now_ns, charged_ns_, account_ns_);
  }
  opened_for_window_ = in_window;
  return tracing_;
}

void TraceBudget::Settle(uint64_t now_ns, uint64_t launches, uint64_t graph_nodes,
                         const PlannedWindow& window) {
  const uint64_t by_figures_ns = TracingCostNs(launches - launches_, graph_nodes - graph_nodes_) +
                                 (stacks_read_ - stacks_charged_) * kStackOfLaunchNs +
                                 host_cost_ns_ - host_cost_charged_ns_;
  cost_by_figures_ns_ += by_figures_ns;
  double cost_ns = scale_ * static_cast<double>(by_figures_ns);
  tracing_cost_ns_ += static_cast<uint64_t>(cost_ns);
  // Every planned window, sampled or not.
  if (tracing_) {
    cost_ns += kSamplingSlowdown *
               Between(std::max(last_ns_, window.begin_ns), std::min(now_ns, window.end_ns));
  }
  const double time_ns = tracing_ && noticeable_ ? Between(last_ns_, now_ns) : 0;
  account_ns_ += Between(last_ns_, now_ns) * Share() - cost_ns - time_ns;
  account_ns_ = std::min(account_ns_, static_cast<double>(begins_ ? credit_ns_ : most_ns_));
  charged_ns_ += cost_ns;
  last_ns_ = now_ns;
  launches_ = launches;
  graph_nodes_ = graph_nodes;
  stacks_charged_ = stacks_read_;
  host_cost_charged_ns_ = host_cost_ns_;
  if (off_since_ns_ > on_since_ns_) {
    cost_rate_ = (charged_ns_ - charged_before_ns_) / Between(on_since_ns_, off_since_ns_);
    noticeable_ = charges_time_ && cost_rate_ > kNoticeableSlowdown;
    severe_ = charges_time_ && cost_rate_ > kSevereSlowdown;
    if (noticeable_) cost_rate_ += 1;
  }
  off_since_ns_ = 0;
}

bool TraceBudget::GoesOn(bool inside) {
  if (begins_ && beginning_.holds_on) {
    account_ns_ = std::max(account_ns_, 0.0);
    held_on_ = true;
    return true;
  }
  if (held_on_ && beginning_.windows_follow) {
    account_ns_ = std::max(account_ns_, KeptForWindowsNs());
    held_on_ = false;
  }
  return inside || account_ns_ > KeptNs();
}

double TraceBudget::KeptNs() const {
  if (begins_ && !attached_) {
    return beginning_.windows_follow ? KeptForWindowsNs()
                                     : -kMostOwedByBeginning * static_cast<double>(credit_ns_);
  }
  const uint64_t room_ns = most_ns_ > kReserveNs ? most_ns_ - kReserveNs : 0;
  const uint64_t beyond_ns = opened_for_window_ ? std::min(kLeastBeyondNs, room_ns * 5 / 6) : 0;
  return static_cast<double>(kReserveNs + beyond_ns);
}

// Whether tracing begins now, before the window or without one: if the window is near, and tracing
// from now to its end leaves the reserve. With no window in sight, a full account earns nothing
// more; what is charged by time waits for windows. Tracing begins ahead of many windows or of none:
// windows that meet dense work would otherwise be the only ones without.
bool TraceBudget::BeginsOutside(uint64_t now_ns, const PlannedWindow& window) {
  if (window.end_ns <= now_ns) return !noticeable_ && account_ns_ >= static_cast<double>(most_ns_);
  if (window.begin_ns > now_ns + kMostAheadNs) return false;
  const double left_ns = account_ns_ + (Share() - cost_rate_) * Between(now_ns, window.end_ns);
  begins_ahead_ = left_ns >= static_cast<double>(kReserveNs + (begins_ahead_ ? 0 : kLeastAheadNs));
  return begins_ahead_;
}

PlannedWindow TraceBudget::Unplanned(uint64_t now_ns) const {
  if (was_unplanned_ || account_ns_ < -static_cast<double>(MostDebtNs() + kOverdraftNs)) return {};
  return {now_ns, now_ns + kExpectedWindowNs, kOverdraftNs};
}

uint64_t TraceBudget::ReadyNs(uint64_t now_ns) const {
  if (budget_ppm_ == 0) return 0;
  if (Paced()) {
    const double debt_ns = -static_cast<double>(MostDebtNs()) - account_ns_;
    const uint64_t paid_ns = now_ns + static_cast<uint64_t>(std::max(0.0, debt_ns) / Share());
    const uint64_t ready_ns = std::max(paid_ns, pace_.NextNs(Share()));
    return ready_ns <= now_ns ? 0 : ready_ns;
  }
  const double window_cost_ns =
      std::max(0.0, cost_rate_ + kSamplingSlowdown - Share()) * kExpectedWindowNs;
  const uint64_t most_ns = noticeable_ ? most_ns_ : kReserveNs;
  const double missing_ns = std::min(window_cost_ns, static_cast<double>(most_ns)) - account_ns_;
  return missing_ns <= 0 ? 0 : now_ns + static_cast<uint64_t>(missing_ns / Share());
}

}  // namespace utlz::agent
