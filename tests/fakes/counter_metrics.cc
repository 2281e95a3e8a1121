#include "tests/fakes/counter_metrics.h"

#include <string>

namespace utlz::fake {
namespace {

constexpr double kPipesPerSm = 4;
constexpr double kFlopsPerPipeCycle = kTensorFlopsPerCycle / kMultiprocessors / kPipesPerSm;
constexpr double kL2BytesPerDramByte = 2;

// What a counter counts, summed over its instances, and how many of them there are.
struct Count {
  double sum;
  double instances;
  double peak_per_cycle;  // of the sum
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<Count> CountOf(std::string_view base, const Totals& totals, uint64_t duration_ns) {
  const double cycles = static_cast<double>(duration_ns) * 1e-9 * kSmClockHz;
  const double active_cycles = totals.active_ns * 1e-9 * kSmClockHz;
  const double dram_bytes = totals.dram_read_bytes + totals.dram_write_bytes;
  constexpr double kDramBytesPerCycle = kDramBytesPerSecond / kSmClockHz;
  if (base == "dram__bytes_read") return Count{totals.dram_read_bytes, 1, kDramBytesPerCycle};
  if (base == "dram__bytes_write") return Count{totals.dram_write_bytes, 1, kDramBytesPerCycle};
  if (base == "dram__bytes") return Count{dram_bytes, 1, kDramBytesPerCycle};
  if (base == "lts__t_bytes") {
    return Count{kL2BytesPerDramByte * dram_bytes, 1, 2 * kDramBytesPerCycle};
  }
  if (base == "gpu__time_duration") return Count{static_cast<double>(duration_ns), 1, 0};
  if (base == "gpc__cycles_elapsed" || base == "dram__cycles_elapsed") return Count{cycles, 1, 1};
  if (base == "sm__cycles_elapsed") {
    return Count{cycles * kMultiprocessors, kMultiprocessors, kMultiprocessors};
  }
  if (base == "sm__cycles_active") {
    return Count{active_cycles * kMultiprocessors, kMultiprocessors, kMultiprocessors};
  }
  if (base == "sm__pipe_tensor_cycles_active" ||
      base == "sm__pipe_tensor_cycles_active_realtime" ||
      base == "sm__pipe_tensor_op_hmma_cycles_active_realtime") {
    return Count{totals.tensor_flops / kFlopsPerPipeCycle, kMultiprocessors,
                 kPipesPerSm * kMultiprocessors};
  }
  // The fake's tensor work is all bf16, by the warp-group instructions.
  if (base == "sm__ops_path_tensor_src_bf16_dst_fp32" ||
      base == "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32") {
    return Count{totals.tensor_flops, kMultiprocessors, kTensorFlopsPerCycle};
  }
  if (Contains(base, "sm__ops_path_tensor_"))
    return Count{0, kMultiprocessors, kTensorFlopsPerCycle};
  if (Contains(base, "sm__inst_executed_pipe_") || Contains(base, "_cycles_active") ||
      Contains(base, "smsp__sass_") || Contains(base, "pcie__") || Contains(base, "nvlrx__") ||
      Contains(base, "nvltx__")) {
    return Count{0, kMultiprocessors, kMultiprocessors};
  }
  return std::nullopt;
}

// "TPC.TriageCompute.sm__x.sum" names the same counter as "sm__x.sum".
std::string_view WithoutGroup(std::string_view name) {
  constexpr std::string_view kGroup = ".TriageCompute.";
  const size_t place = name.find(kGroup);
  return place == std::string_view::npos ? name : name.substr(place + kGroup.size());
}

}  // namespace

std::optional<double> EvaluateMetric(std::string_view name, const Totals& totals,
                                     uint64_t duration_ns) {
  name = WithoutGroup(name);
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;  // a rollup is required
  const std::optional<Count> count = CountOf(name.substr(0, dot), totals, duration_ns);
  if (!count) return std::nullopt;
  const std::string_view form = name.substr(dot + 1);
  const double seconds = static_cast<double>(duration_ns) * 1e-9;
  const double per_instance = count->sum / count->instances;
  if (form == "sum") return count->sum;
  if (form == "avg" || form == "max" || form == "min") return per_instance;
  if (form == "sum.per_second") return count->sum / seconds;
  if (form == "avg.per_second") return per_instance / seconds;
  if (form == "sum.peak_sustained") return count->peak_per_cycle;
  if (form == "avg.pct_of_peak_sustained_elapsed" || form == "sum.pct_of_peak_sustained_elapsed") {
    return 100 * count->sum / (count->peak_per_cycle * seconds * kSmClockHz);
  }
  return std::nullopt;
}

bool IsSoftwareMetric(std::string_view name) { return Contains(name, "sass"); }

}  // namespace utlz::fake
