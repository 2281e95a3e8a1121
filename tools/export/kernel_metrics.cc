#include "tools/export/kernel_metrics.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

// All are looked at for each launch.
constexpr size_t kMaxKinds = 64;

constexpr char kDramRead[] = "dram__bytes_read.sum";
constexpr char kDramWrite[] = "dram__bytes_write.sum";
constexpr char kL2[] = "lts__t_bytes.sum";
constexpr char kSmActive[] = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr char kTensor[] = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr char kCompute[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr char kDram[] = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr char kMemory[] = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

// A kernel of the report is launched by itself and in graphs: that is no part of what tells it.
std::string KeyOf(std::string_view mangled_name, const uint32_t (&grid)[3],
                  const uint32_t (&block)[3], uint32_t registers_per_thread, uint32_t shared_bytes,
                  std::string_view device_uuid) {
  std::string key(mangled_name);
  for (const uint32_t part : {grid[0], grid[1], grid[2], block[0], block[1], block[2],
                              registers_per_thread, shared_bytes}) {
    key += '\0' + std::to_string(part);
  }
  key += '\0';
  key += device_uuid;
  return key;
}

std::string KeyOf(const KernelSummary& kernel) {
  uint32_t grid[3] = {}, block[3] = {};
  for (int axis = 0; axis < 3; ++axis) {
    if (axis < kernel.grid_size()) grid[axis] = kernel.grid(axis);
    if (axis < kernel.block_size()) block[axis] = kernel.block(axis);
  }
  return KeyOf(kernel.mangled_name(), grid, block, kernel.registers_per_thread(),
               kernel.shared_bytes(), kernel.device_uuid());
}

KernelMetrics::Metrics MetricsOf(const KernelSummary& kernel) {
  KernelMetrics::Metrics metrics;
  metrics.mean_ns = kernel.time_mean_ns();
  const double launches = static_cast<double>(kernel.launches());
  const auto each = [&](bool known, std::string_view name, double total) {
    if (known && launches > 0) metrics.arguments.push_back({name, total / launches});
  };
  each(kernel.has_dram_read_bytes(), kDramRead, kernel.dram_read_bytes());
  each(kernel.has_dram_write_bytes(), kDramWrite, kernel.dram_write_bytes());
  each(kernel.has_l2_bytes(), kL2, kernel.l2_bytes());
  each(kernel.has_flops(), "flops", kernel.flops());
  const auto share = [&](bool known, std::string_view name, double value) {
    if (known) metrics.rates.push_back({name, 100 * value});
  };
  share(kernel.has_sm_active_share(), kSmActive, kernel.sm_active_share());
  share(kernel.has_tensor_active_share(), kTensor, kernel.tensor_active_share());
  share(kernel.has_flops_peak_share() || kernel.has_tensor_active_share(), kCompute,
        std::max(kernel.flops_peak_share(), kernel.tensor_active_share()));
  share(kernel.has_dram_peak_share(), kDram, kernel.dram_peak_share());
  share(kernel.has_dram_peak_share(), kMemory, kernel.dram_peak_share());
  metrics.arguments.insert(metrics.arguments.end(), metrics.rates.begin(), metrics.rates.end());
  return metrics;
}

}  // namespace

KernelMetrics::KernelMetrics(const Summary& summary) {
  for (int row = 0; row < summary.kernels_size(); ++row) {
    const KernelSummary& kernel = summary.kernels(row);
    std::vector<Metrics>& kinds = kinds_by_kernel_[KeyOf(kernel)];
    if (kinds.size() >= kMaxKinds) continue;
    kinds.push_back(MetricsOf(kernel));
    kinds.back().row = static_cast<uint32_t>(row);
  }
}

const std::vector<KernelMetrics::Metrics>* KernelMetrics::KindsOf(
    std::string_view mangled_name, const VariantShape& shape, std::string_view device_uuid) const {
  const auto found =
      kinds_by_kernel_.find(KeyOf(mangled_name, shape.grid, shape.block, shape.registers_per_thread,
                                  shape.shared_bytes, device_uuid));
  return found == kinds_by_kernel_.end() ? nullptr : &found->second;
}

const KernelMetrics::Metrics& KernelMetrics::NearestOf(const std::vector<Metrics>& kinds,
                                                       uint64_t duration_ns) {
  const auto duration = static_cast<double>(duration_ns);
  return *std::min_element(kinds.begin(), kinds.end(), [&](const Metrics& a, const Metrics& b) {
    return std::abs(a.mean_ns - duration) < std::abs(b.mean_ns - duration);
  });
}

const KernelMetrics::Metrics* KernelMetrics::Find(std::string_view mangled_name,
                                                  const VariantShape& shape,
                                                  std::string_view device_uuid,
                                                  uint64_t duration_ns) const {
  const std::vector<Metrics>* kinds = KindsOf(mangled_name, shape, device_uuid);
  return kinds == nullptr ? nullptr : &NearestOf(*kinds, duration_ns);
}

}  // namespace utlz
