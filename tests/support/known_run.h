// A run of kernels whose counters are known, as the diagnosis finds it.
#ifndef UTLZ_TESTS_SUPPORT_KNOWN_RUN_H_
#define UTLZ_TESTS_SUPPORT_KNOWN_RUN_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/analysis/analysis.h"
#include "collector/gpu_uuid.h"
#include "collector/run/run_state.h"
#include "tests/support/run_builder.h"

namespace utlz {

struct KnownKernel {
  std::string name;
  double time_ns = 0;
  std::optional<double> compute_ns = std::nullopt;  // its FLOPs at the peak
  std::optional<double> memory_ns = std::nullopt;   // its bytes at the bandwidth
  uint32_t grid = 1000;
  std::string data_type = "bf16";
  double flops = 1;
  std::optional<double> read_bytes = std::nullopt;
  std::optional<double> write_bytes = std::nullopt;
};

// One second on a device of 100 SMs, whose kernels ran one after the other.
struct KnownRun {
  explicit KnownRun(const std::vector<KnownKernel>& kernels) {
    const uint32_t device = *state.devices.Find(RunBuilder::Uuid());
    state.devices[device].used = true;
    state.devices[device].info.set_multiprocessors(100);
    analysis.devices.resize(1);
    analysis.devices[0].ceilings.clock_hz = 1e9;
    analysis.devices[0].ceilings.flops_per_cycle = {{"fp32", 10}, {"tf32", 80}, {"bf16", 160}};
    AddVariants(kernels);
    for (uint32_t i = 0; i < kernels.size(); ++i) AddRow(i, device, kernels[i]);
    double compute_ns = 0;
    for (const KernelRow& row : analysis.rows) compute_ns += row.time_ns;
    SetComputeNs(compute_ns);
    DeviceSummary* described = summary.add_devices();
    described->set_uuid(FormatGpuUuid(RunBuilder::Uuid()));
    described->set_steady_state_ns(1'000'000'000);
    described->set_kernel_time_ns(900'000'000);
    described->set_gpu_busy_share(0.9);
    described->set_source(SOURCE_SAMPLED);
  }

  // In the steady part; the rows' times are the run's.
  void SetComputeNs(double time_ns) {
    StretchContent& content = analysis.devices[0].part.content;
    content.time_ns[static_cast<size_t>(TimeCategory::kCompute)] = time_ns;
  }

  RunState state;
  Analysis analysis;
  Summary summary;

 private:
  void AddVariants(const std::vector<KnownKernel>& kernels) {
    Strings strings;
    Variants variants;
    strings.set_first(1);
    for (const KnownKernel& kernel : kernels) {
      strings.add_values(kernel.name);
      variants.add_name(static_cast<uint32_t>(strings.values_size()));
      variants.add_grid_x(kernel.grid);
      variants.add_grid_y(1);
      variants.add_grid_z(1);
      variants.add_block_x(128);
      variants.add_block_y(1);
      variants.add_block_z(1);
    }
    ProcessState* process = state.processes.Get(1);
    EXPECT_TRUE(state.processes.AddStrings(process, strings));
    EXPECT_TRUE(state.processes.AddVariants(process, variants));
  }

  void AddRow(uint32_t variant, uint32_t device, const KnownKernel& kernel) {
    KernelRow row;
    row.kernel = state.kernels.Find(state.processes.Get(1), variant, device);
    row.launches = 1;
    row.time_ns = kernel.time_ns;
    row.roofline = {.time_ns = kernel.time_ns,
                    .compute_time_ns = kernel.compute_ns,
                    .memory_time_ns = kernel.memory_ns};
    if (kernel.compute_ns.has_value()) {
      TypedFlops flops;
      flops.data_type = kernel.data_type;
      flops.flops = kernel.flops;
      row.work.flops.push_back(flops);
    }
    row.work.read_bytes = Counted(kernel.read_bytes);
    row.work.write_bytes = Counted(kernel.write_bytes);
    analysis.rows.push_back(row);
  }

  static std::optional<CounterPerLaunch> Counted(std::optional<double> bytes) {
    if (!bytes.has_value()) return std::nullopt;
    CounterPerLaunch counter;
    counter.value = *bytes;
    return counter;
  }
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_KNOWN_RUN_H_
