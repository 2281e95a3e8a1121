// Keeps tracing within the overhead budget: an account that fills with a share of the time that
// passes and pays for every traced launch, and for being sampled. A program whose launches it can
// pay for is traced throughout. For any other, tracing is on in the windows that the collector
// plans (RingControl), in which the sampler counts too: a sample without the launches that ran
// meanwhile is of no use, and neither are launches of one process without those of its neighbours
// on the GPU. Tracing begins a little before them, so that what was launched ahead of them has run
// by then. What the account holds beyond a reserve is spent on few long windows.
//
// The account begins with half of what the first ten seconds may cost. Half of that pays for a
// beginning that is traced throughout, so that whole steps are seen. The other half pays for
// windows as fast as the sampler can take them: it takes some 20 ms of samples in 130 ms, and
// launches between two windows would cost as much and make no figure better.
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

// What is known of a program that was traced from its start without a pause.
struct Beginning {
  // Tracing goes on whatever it costs. The account does not owe that, and holds what it keeps for
  // windows once they are known to follow.
  bool holds_on = false;
  // The first pause is followed by windows, so half of the credit is kept for these. While that is
  // not known, the account may owe nearly as much as the credit: there may be nothing to keep it
  // for, and all of what the report says may come from the beginning.
  bool windows_follow = true;
};

class TraceBudget {
 public:
  // At the start of a run the account holds the budget's share of so much time: 50 ms at a budget
  // of 1 %. It never saves more than twice that.
  static constexpr uint64_t kCreditTimeNs = 5'000'000'000;
  static constexpr uint64_t kLeastCreditNs = 15'000'000;
  static constexpr uint64_t kMostCreditNs = 250'000'000;
  static constexpr uint64_t kMostSaved = 2;  // credits
  // What a beginning may owe after which there may be no windows, in credits.
  static constexpr double kMostOwedByBeginning = 0.4;
  // The credit is an advance: so long after the start the account earns less, from the first pause
  // on.
  static constexpr uint64_t kAdvanceNs = 10'000'000'000;
  // What the account holds at the start of an attachment of `utlz attach`, and the most that it
  // saves. It is short: its beginning has to fit the budget too.
  static constexpr uint64_t kAttachmentCreditNs = 15'000'000;
  // Kept for planned windows: these come before the sampler is limited by its own budget.
  static constexpr uint64_t kReserveNs = 10'000'000;
  // About how long a planned window lasts, to know when the account can pay for one. Before there
  // is a pace, it waits for no more than the reserve: the cost of a start-up tells little of the
  // steps that follow.
  static constexpr uint64_t kExpectedWindowNs = 25'000'000;
  // How much more the account has to hold for a window to go on beyond its planned end; or five
  // sixths of what it can hold beyond the reserve, where that is less. It then goes on for many of
  // a program's steps.
  static constexpr uint64_t kLeastBeyondNs = 75'000'000;
  // Tracing begins at most so long before a planned window, where the account then still holds so
  // much more than the reserve, and from then on until it holds less than the reserve.
  static constexpr uint64_t kMostAheadNs = 20'000'000;
  static constexpr uint64_t kLeastAheadNs = 30'000'000;
  // By how much more than planned windows those for new work may overdraw the account: they cannot
  // wait. Later windows pay it back.
  static constexpr uint64_t kOverdraftNs = 10'000'000;
  // What the account may owe when a planned window begins that comes at its pace.
  static constexpr uint64_t kMostDebtNs = 10'000'000;
  // A share of the budget. The rest is for what the account is not charged with: switching and our
  // thread.
  static constexpr double kShareForTracing = 0.7;
  // The same during kAdvanceNs. With the credit that is three quarters of a budget of 1 %.
  static constexpr double kShareDuringAdvance = 0.25;
  // The same at the least, where CUPTI's hook in every launch takes what there is.
  static constexpr double kLeastShare = 0.15;

  // Cost of tracing and sampling ÷ traced time. Above it a step's time shows it plainly.
  static constexpr double kNoticeableSlowdown = 0.03;
  // The same. Above it a traced step takes longer than nearly all others of a quiet server.
  static constexpr double kSevereSlowdown = 0.1;
  // A share of the budget, for programs that tracing slows by more than kSevereSlowdown.
  static constexpr double kShareWhereSevere = 0.2;

  static TraceBudget ForAttachment() {
    TraceBudget budget;
    budget.attached_ = true;
    budget.charges_time_ = budget.noticeable_ = budget.severe_ = true;
    return budget;
  }
  static uint64_t CreditNs(uint32_t budget_ppm) {
    return std::clamp(kCreditTimeNs / 1'000'000 * budget_ppm, kLeastCreditNs, kMostCreditNs);
  }

  // `budget_ppm` 0: everything is traced.
  void Start(uint64_t now_ns, uint32_t budget_ppm);

  // Whether to trace from now on, given all launches and graph nodes traced so far.
  bool ShouldTrace(uint64_t now_ns, uint64_t launches, uint64_t graph_nodes,
                   const PlannedWindow& window);
  // What all launches so far have cost beyond kTracedLaunchNs each (HostCost). Call it before
  // ShouldTrace().
  void SetHostCost(uint64_t host_cost_ns) { host_cost_ns_ = host_cost_ns; }
  // What is known of the beginning, in which tracing was never off. Call it before ShouldTrace().
  void SetBeginning(const Beginning& beginning) { beginning_ = beginning; }
  // What windows leave behind in every launch, as a share of the program's time
  // (LaterWindows::HookShare): so much less is left for windows.
  void SetHookShare(double share) { hook_share_ = share; }
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
    advance_end_ns_ += now_ns - last_ns_;
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
  // What a beginning that is traced throughout leaves of the credit.
  double KeptForWindowsNs() const { return static_cast<double>(credit_ns_) / 2; }
  // What the account keeps where a window goes on outside of planned ones.
  double KeptNs() const;
  // Whether a window goes on, `inside` a planned one or not.
  bool GoesOn(bool inside);
  bool BeginsOutside(uint64_t now_ns, const PlannedWindow& window);
  // Whether planned windows come at an even pace. Those whose time is charged whole wait until the
  // account can pay for each.
  bool Paced() const { return !noticeable_ && pace_.known(); }
  // What the account may owe when a planned window begins.
  uint64_t MostDebtNs() const { return Paced() ? kMostDebtNs : 0; }
  // Of the time.
  double Share() const;

  uint64_t credit_ns_ = 0;
  uint64_t most_ns_ = 0;  // that is saved
  uint64_t advance_end_ns_ = 0;
  uint32_t budget_ppm_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t launches_ = 0;
  uint64_t graph_nodes_ = 0;
  uint64_t stacks_read_ = 0;
  uint64_t stacks_charged_ = 0;
  uint64_t host_cost_ns_ = 0;
  uint64_t host_cost_charged_ns_ = 0;
  double hook_share_ = 0;
  uint64_t cost_by_figures_ns_ = 0;
  uint64_t tracing_cost_ns_ = 0;
  double account_ns_ = 0;
  double scale_ = 1;
  bool tracing_ = true;
  bool begins_ = true;  // tracing was never off
  Beginning beginning_;
  bool held_on_ = false;            // until windows are known to follow
  bool begins_ahead_ = false;       // of planned windows
  bool opened_for_window_ = false;  // a planned one, which tracing was in at the last turn
  // Cost ÷ traced time, of the last window. Known a turn after its end: CUPTI hands records over
  // late.
  double cost_rate_ = 0;
  WindowPace pace_;
  bool attached_ = false;
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
