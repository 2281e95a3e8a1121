// Keeps tracing within the overhead budget: an account that fills with a share of the time that
// passes and pays for every traced launch. Empty, tracing is switched off until it holds enough for
// another window; the pauses are dithered, so that windows do not fall into step with a load.
//
// What a launch costs is the driver's doing, not ours (docs/overhead.md: measured on an H200 with an
// empty consumer); a GPU-bound program hides much of it, so the account errs towards less tracing.
//
// Agent's thread only.
#ifndef UTLZ_INJECT_TRACE_BUDGET_H_
#define UTLZ_INJECT_TRACE_BUDGET_H_

#include <cstdint>

namespace utlz::inject {

class TraceBudget {
 public:
  static constexpr uint64_t kLaunchCostNs = 1150;
  // 330 to 780 were seen, the most where the nodes are short and nothing hides them.
  static constexpr uint64_t kGraphNodeCostNs = 800;
  // Spent ahead, so that a run's beginning is seen whole.
  static constexpr uint64_t kCreditNs = 100'000'000;
  // The same for a visit of `utlz attach`, which is short: its beginning has to fit the budget too.
  static constexpr uint64_t kVisitCreditNs = 15'000'000;
  // The time whose share one window may spend.
  static constexpr uint64_t kPeriodNs = 2'000'000'000;
  // Of the budget; the rest is for what no launch is charged with: switching, our thread, sampling.
  static constexpr double kShareForTracing = 0.7;

  // No more than the credit is ever saved.
  explicit TraceBudget(uint64_t credit_ns = kCreditNs) : credit_ns_(credit_ns) {}

  // `budget_ppm` 0: everything is traced.
  void Start(uint64_t now_ns, uint32_t budget_ppm);

  // Whether to trace from now on, given all launches and graph nodes traced so far.
  bool ShouldTrace(uint64_t now_ns, uint64_t launches, uint64_t graph_nodes);
  // What all tracing so far has cost by this account.
  uint64_t charged_ns() const { return charged_ns_; }
  // In its place while nobody wants records: time asleep earns nothing.
  void Asleep(uint64_t now_ns) { last_ns_ = now_ns; }

 private:
  double NextDither();

  uint64_t credit_ns_;
  uint32_t budget_ppm_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t launches_ = 0;
  uint64_t graph_nodes_ = 0;
  uint64_t charged_ns_ = 0;
  double account_ns_ = 0;
  double wanted_ns_ = 0;  // what the account must hold before the next window
  bool tracing_ = true;
  uint64_t random_state_ = 1;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_TRACE_BUDGET_H_
