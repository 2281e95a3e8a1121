#include "inject/trace_budget.h"

namespace utlz::inject {

void TraceBudget::Start(uint64_t now_ns, uint32_t budget_ppm) {
  budget_ppm_ = budget_ppm;
  last_ns_ = now_ns;
  account_ns_ = static_cast<double>(credit_ns_);
  random_state_ = now_ns | 1;
}

bool TraceBudget::ShouldTrace(uint64_t now_ns, uint64_t launches, uint64_t graph_nodes) {
  const uint64_t cost_ns = (launches - launches_) * kLaunchCostNs +
                           (graph_nodes - graph_nodes_) * kGraphNodeCostNs;
  charged_ns_ += cost_ns;
  launches_ = launches;
  graph_nodes_ = graph_nodes;
  if (budget_ppm_ == 0) return true;
  const double share = kShareForTracing * budget_ppm_ / 1e6;
  account_ns_ += static_cast<double>(now_ns - last_ns_) * share;
  account_ns_ -= static_cast<double>(cost_ns);
  if (account_ns_ > static_cast<double>(credit_ns_)) account_ns_ = static_cast<double>(credit_ns_);
  last_ns_ = now_ns;
  if (tracing_ && account_ns_ <= 0) {
    tracing_ = false;
    wanted_ns_ = static_cast<double>(kPeriodNs) * share * (0.75 + NextDither() / 2);
    // The account holds no more than its credit.
    if (wanted_ns_ > static_cast<double>(credit_ns_)) wanted_ns_ = static_cast<double>(credit_ns_);
  } else if (!tracing_ && account_ns_ >= wanted_ns_) {
    tracing_ = true;
  }
  return tracing_;
}

// Uniform in [0, 1): xorshift.
double TraceBudget::NextDither() {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return static_cast<double>(random_state_ >> 11) * 0x1p-53;
}

}  // namespace utlz::inject
