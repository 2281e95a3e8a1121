#include "collector/metrics/worth_pace.h"

namespace utlz {
namespace {

bool HasGrown(uint64_t now, uint64_t before) {
  return static_cast<double>(now) > WorthPace::kGrowth * static_cast<double>(before);
}

}  // namespace

bool WorthPace::Due(const RunState& run_state, uint64_t now_ns) const {
  if (!pace_.Due(now_ns)) return false;
  const Basis basis = BasisOf(run_state);
  if (!basis_ || basis.kernels != basis_->kernels || HasGrown(basis.launches, basis_->launches) ||
      HasGrown(basis.samples, basis_->samples)) {
    return true;
  }
  return now_ns >= renewed_ns_ + (basis == *basis_ ? kLongestPauseNs : kPauseNs);
}

void WorthPace::Renewed(const RunState& run_state, uint64_t now_ns, uint64_t cost_ns) {
  pace_.Renewed(now_ns, cost_ns);
  basis_ = BasisOf(run_state);
  renewed_ns_ = now_ns;
}

WorthPace::Basis WorthPace::BasisOf(const RunState& run_state) {
  Basis basis{.kernels = run_state.kernels.kernels().size(), .launches = run_state.launches};
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    basis.samples += run_state.devices[i].samples.samples();
  }
  return basis;
}

}  // namespace utlz
