// Keeps tracing within the overhead budget: an account that fills with a share of the time that
// passes and pays for every traced launch, and for being sampled. A program whose launches it can
// pay for is traced throughout. For any other, tracing is on in the windows that the collector
// plans (RingControl), in which the sampler counts too: a sample without the launches that ran
// meanwhile is of no use, and neither are launches of one process without those of its neighbours
// on the GPU. Tracing begins a little before them, so that what was launched ahead of them has run
// by then. What the account holds beyond a reserve is spent on few long windows.
//
// When a window begins and ends must not depend on what the program launches meanwhile: windows
// would meet some parts of its steps more often than others, and what ran between windows is
// divided as it was in them.
//
// What a launch costs is the driver's doing, not ours, and depends on the program
// (inject/tracing/host_cost.h); one whose GPU is busy hides much of it, so the account errs
// towards less tracing.
//
// A server's 99th percentile feels more than one step in a hundred, however little tracing costs on
// average. So in an attachment to a program that tracing slows by more than kNoticeableSlowdown,
// time that is traced is charged whole: at a budget of 1 %, tracing slows less than 1 % of the
// steps. Steps that it slows by more than kSevereSlowdown push others over the percentile: of these
// it may slow less than a third as many.
//
// Agent's thread only.
#ifndef UTLZ_INJECT_TRACING_TRACE_BUDGET_H_
#define UTLZ_INJECT_TRACING_TRACE_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "inject/tracing/window_pace.h"
#include "proto/tracing_cost.h"

namespace utlz::agent {

// Times are of the same clock as the caller's `now_ns`. `end_ns` 0: no window is planned.
struct PlannedWindow {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t overdraft_ns = 0;  // by which the account may be overdrawn when it begins
};

class TraceBudget {
 public:
  // What the account holds at the start, so that a run's beginning is traced nearly whole.
  static constexpr uint64_t kCreditNs = 100'000'000;
  // The same for an attachment of `utlz attach`, which is short: its beginning has to fit the
  // budget too.
  static constexpr uint64_t kAttachmentCreditNs = 15'000'000;
  // Kept for planned windows: these come before the sampler is limited by its own budget.
  static constexpr uint64_t kReserveNs = 10'000'000;
  // About how long a planned window lasts, to know when the account can pay for one.
  static constexpr uint64_t kExpectedWindowNs = 25'000'000;
  // How much more the account has to hold for a window to go on beyond its planned end; or five
  // sixths of what it can hold beyond the reserve, where that is less. It then goes on for many of
  // a program's steps.
  static constexpr uint64_t kLeastBeyondNs = 75'000'000;
  // Tracing begins at most so long before a planned window, where the account then still holds so
  // much more than the reserve, and from then on until it holds less than the reserve.
  static constexpr uint64_t kMostAheadNs = 20'000'000;
  static constexpr uint64_t kLeastAheadNs = 15'000'000;
  // By how much more than planned windows those for new work may overdraw the account: they cannot
  // wait. Later windows pay it back.
  static constexpr uint64_t kOverdraftNs = 10'000'000;
  // The account owes no more than this after a program's beginning: were it to pay back all, the
  // steps that follow would have no window for seconds. Nor does it where a planned window begins
  // that comes at its pace.
  static constexpr uint64_t kMostDebtNs = 10'000'000;
  // A share of the budget. The rest is for what the account is not charged with: switching and our
  // thread.
  static constexpr double kShareForTracing = 0.7;

  // Cost of tracing and sampling ÷ traced time. Above it a step's time shows it plainly.
  static constexpr double kNoticeableSlowdown = 0.03;
  // The same. Above it a traced step takes longer than nearly all others of a quiet server.
  static constexpr double kSevereSlowdown = 0.1;
  // A share of the budget, for programs that tracing slows by more than kSevereSlowdown.
  static constexpr double kShareWhereSevere = 0.2;

  // No more than the credit is ever saved.
  explicit TraceBudget(uint64_t credit_ns = kCreditNs) : credit_ns_(credit_ns) {}

  static TraceBudget ForAttachment() {
    TraceBudget budget(kAttachmentCreditNs);
    budget.charges_time_ = budget.noticeable_ = budget.severe_ = true;
    return budget;
  }

  // `budget_ppm` 0: everything is traced.
  void Start(uint64_t now_ns, uint32_t budget_ppm);

  // Whether to trace from now on, given all launches and graph nodes traced so far.
  bool ShouldTrace(uint64_t now_ns, uint64_t launches, uint64_t graph_nodes,
                   const PlannedWindow& window);
  // What all launches so far have cost beyond kTracedLaunchNs each (HostCost). Call it before
  // ShouldTrace().
  void SetHostCost(uint64_t host_cost_ns) { host_cost_ns_ = host_cost_ns; }
  // Call it while records go on only because the program still begins: forgives all debt beyond
  // kMostDebtNs.
  void LimitDebt() { account_ns_ = std::max(account_ns_, -static_cast<double>(kMostDebtNs)); }
  // All launching calls so far whose stacks were read. Call it before ShouldTrace().
  void SetStacksRead(uint64_t calls) { stacks_read_ = calls; }
  // Whether traced time is charged whole.
  bool ChargesTime() const { return noticeable_; }
  // What launches and nodes cost this program ÷ what they cost by the figures.
  void SetScale(double scale) { scale_ = scale; }
  // What tracing has cost so far by the figures alone.
  uint64_t cost_by_figures_ns() const { return cost_by_figures_ns_; }
  // What tracing has cost so far by this account. The sampler reports what sampling costs.
  uint64_t tracing_cost_ns() const { return tracing_cost_ns_; }
  // Call this instead of ShouldTrace() while nobody wants records: inactive time earns nothing.
  void Inactive(uint64_t now_ns) {
    on_since_ns_ += now_ns - last_ns_;
    last_ns_ = now_ns;
  }

  // A window from now on that overdraws the account. None if the account owes too much already, or
  // if the last window was such a one: a planned one comes first.
  PlannedWindow Unplanned(uint64_t now_ns) const;
  // When the account can pay for a planned window, or one is due at its pace (WindowPace); 0: now.
  uint64_t ReadyNs(uint64_t now_ns) const;

 private:
  void Settle(uint64_t now_ns, uint64_t launches, uint64_t graph_nodes,
              const PlannedWindow& window);
  // Whether a window goes on, `inside` a planned one or not.
  bool GoesOn(bool inside) const;
  bool BeginsOutside(uint64_t now_ns, const PlannedWindow& window);
  // Whether planned windows come at an even pace. Those whose time is charged whole wait until the
  // account can pay for each.
  bool Paced() const { return !noticeable_ && pace_.known(); }
  // What the account may owe when a planned window begins.
  uint64_t MostDebtNs() const { return Paced() ? kMostDebtNs : 0; }
  double Share() const {
    return (severe_ ? kShareWhereSevere : kShareForTracing) * budget_ppm_ / 1e6;
  }

  uint64_t credit_ns_;
  uint32_t budget_ppm_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t launches_ = 0;
  uint64_t graph_nodes_ = 0;
  uint64_t stacks_read_ = 0;
  uint64_t stacks_charged_ = 0;
  uint64_t host_cost_ns_ = 0;
  uint64_t host_cost_charged_ns_ = 0;
  uint64_t cost_by_figures_ns_ = 0;
  uint64_t tracing_cost_ns_ = 0;
  double account_ns_ = 0;
  double scale_ = 1;
  bool tracing_ = true;
  bool begins_ahead_ = false;       // of planned windows
  bool opened_for_window_ = false;  // a planned one, which tracing was in at the last turn
  // Cost ÷ traced time, of the last window. Known a turn after its end: CUPTI hands records over
  // late.
  double cost_rate_ = 0;
  WindowPace pace_;
  bool charges_time_ = false;
  bool noticeable_ = false;  // as of then, and to be on the safe side before it
  bool severe_ = false;      // the same
  double charged_ns_ = 0;
  double charged_before_ns_ = 0;  // when tracing was switched on
  uint64_t on_since_ns_ = 0;
  uint64_t off_since_ns_ = 0;   // 0: cost_rate_ is of that window already
  bool was_unplanned_ = false;  // the last window that was traced
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_TRACE_BUDGET_H_
