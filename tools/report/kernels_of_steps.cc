#include "tools/report/kernels_of_steps.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

// Launches at the edges of the steps are in them by chance.
constexpr double kOutside = 1e-3;

void ScaleFlops(double share, KernelSummary* kernel) {
  if (!kernel->has_flops()) return;
  kernel->set_flops(share * kernel->flops());
  kernel->set_flops_error(share * kernel->flops_error());
  kernel->set_flops_error_assumed(share * kernel->flops_error_assumed());
  for (DataTypeFlops& typed : *kernel->mutable_flops_by_type()) {
    typed.set_flops(share * typed.flops());
    typed.set_flops_error(share * typed.flops_error());
    typed.set_flops_error_assumed(share * typed.flops_error_assumed());
  }
}

void ScaleBytes(double share, KernelSummary* kernel) {
  if (!kernel->has_dram_bytes()) return;
  kernel->set_dram_read_bytes(share * kernel->dram_read_bytes());
  kernel->set_dram_write_bytes(share * kernel->dram_write_bytes());
  kernel->set_dram_bytes(share * kernel->dram_bytes());
  kernel->set_dram_bytes_error(share * kernel->dram_bytes_error());
  kernel->set_dram_bytes_error_assumed(share * kernel->dram_bytes_error_assumed());
}

void ScaleRoofline(double share, KernelSummary* kernel) {
  if (kernel->has_roofline_time_ns()) {
    kernel->set_roofline_time_ns(share * kernel->roofline_time_ns());
  }
  if (kernel->has_estimated_savings_ns()) {
    kernel->set_estimated_savings_ns(share * kernel->estimated_savings_ns());
  }
  if (kernel->has_estimated_savings_error_ns()) {
    kernel->set_estimated_savings_error_ns(share * kernel->estimated_savings_error_ns());
  }
}

// Rates and shares stay as they are.
void Scale(KernelSummary* kernel) {
  const double share = kernel->steady_state_share();
  const double launches = share * static_cast<double>(kernel->launches());
  kernel->set_launches(static_cast<uint64_t>(std::llround(launches)));
  if (kernel->has_time_ns()) kernel->set_time_ns(share * kernel->time_ns());
  if (kernel->has_time_error_ns()) kernel->set_time_error_ns(share * kernel->time_error_ns());
  ScaleFlops(share, kernel);
  ScaleBytes(share, kernel);
  ScaleRoofline(share, kernel);
}

}  // namespace

Summary WithKernelsOfSteps(const Summary& summary) {
  Summary shown = summary;
  const bool known =
      std::all_of(summary.kernels().begin(), summary.kernels().end(),
                  [](const KernelSummary& each) { return each.has_steady_state_share(); });
  if (summary.steady_state().scope() != "steps" || !known) return shown;
  shown.clear_kernels();
  double time_ns = 0;
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.steady_state_share() < kOutside) continue;
    Scale(&(*shown.add_kernels() = kernel));
    time_ns += shown.kernels(shown.kernels_size() - 1).time_ns();
  }
  for (KernelSummary& kernel : *shown.mutable_kernels()) {
    if (time_ns > 0) kernel.set_time_share(kernel.time_ns() / time_ns);
  }
  return shown;
}

}  // namespace utlz
