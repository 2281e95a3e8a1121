#include "tools/export/pprof_values.h"

#include <cmath>

namespace utlz {
namespace {

// Sums of all samples stay below it, which leaves room in 63 bits.
constexpr double kMostTotal = 4e18;
constexpr double kMillion = 1e6;

int64_t Rounded(double value) { return value > 0 ? std::llround(std::fmin(value, kMostTotal)) : 0; }

}  // namespace

PprofValueSet::PprofValueSet(const Summary& summary, bool counters) {
  if (!counters) return;
  double flops = 0;
  for (const KernelSummary& kernel : summary.kernels()) {
    flops_ = flops_ || kernel.has_flops();
    dram_bytes_ = dram_bytes_ || kernel.has_dram_bytes();
    flops += kernel.flops();
  }
  if (flops > kMostTotal) flops_unit_ = kMillion;
}

std::vector<PprofValueType> PprofValueSet::Types() const {
  std::vector<PprofValueType> types = {{"gpu_time", "nanoseconds"}, {"idle_time", "nanoseconds"}};
  if (flops_) types.push_back({flops_unit_ > 1 ? "megaflops" : "flops", "count"});
  if (dram_bytes_) types.push_back({"dram_bytes", "bytes"});
  types.push_back({"launches", "count"});
  return types;
}

std::vector<int64_t> PprofValueSet::ValuesOf(const PprofValues& values) const {
  std::vector<int64_t> listed = {values.gpu_time_ns, values.idle_time_ns};
  if (flops_) listed.push_back(values.flops);
  if (dram_bytes_) listed.push_back(values.dram_bytes);
  listed.push_back(values.launches);
  return listed;
}

PprofValues PprofValueSet::TotalOf(const KernelSummary& kernel) const {
  PprofValues total;
  total.gpu_time_ns = Rounded(kernel.time_ns());
  total.launches = Rounded(static_cast<double>(kernel.launches()));
  if (flops_) total.flops = Rounded(kernel.flops() / flops_unit_);
  if (dram_bytes_) total.dram_bytes = Rounded(kernel.dram_bytes());
  return total;
}

}  // namespace utlz
