#include "collector/run/workload_spec.h"

#include <cmath>

namespace utlz {
namespace {

// A profile may hold any number.
double Known(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

}  // namespace

WorkloadSpec JoinWorkloadSpec(const WorkloadSpec& earlier, const WorkloadSpec& later) {
  WorkloadSpec work = earlier;
  if (later.flops_per_step() > 0 || later.flops_per_token() > 0) {
    work.clear_flops_per_step();
    work.clear_flops_per_token();
    work.clear_padded_tokens_per_step();
    work.clear_attention_flops_per_step();
    work.clear_forward_flops_per_step();
    work.clear_note();
  }
  work.MergeFrom(later);
  work.set_flops_per_step(Known(work.flops_per_step()));
  work.set_flops_per_token(Known(work.flops_per_token()));
  work.set_tokens_per_step(Known(work.tokens_per_step()));
  work.set_padded_tokens_per_step(Known(work.padded_tokens_per_step()));
  work.set_attention_flops_per_step(Known(work.attention_flops_per_step()));
  work.set_forward_flops_per_step(Known(work.forward_flops_per_step()));
  work.set_price_per_hour(Known(work.price_per_hour()));
  work.set_items_per_step(Known(work.items_per_step()));
  return work;
}

double FlopsPerStep(const WorkloadSpec& work) {
  if (work.flops_per_step() > 0) return work.flops_per_step();
  return work.flops_per_token() * work.tokens_per_step();
}

bool GivesWork(const WorkloadSpec& work) {
  return FlopsPerStep(work) > 0 || work.tokens_per_step() > 0 || work.items_per_step() > 0;
}

bool IsForwardOnly(const WorkloadSpec& work) {
  // Training takes three times as many as its forward pass.
  return work.forward_flops_per_step() > 0.5 * FlopsPerStep(work);
}

}  // namespace utlz
