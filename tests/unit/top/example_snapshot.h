// Made-up snapshots for tests of the screen.
#ifndef UTLZ_TESTS_UNIT_TOP_EXAMPLE_SNAPSHOT_H_
#define UTLZ_TESTS_UNIT_TOP_EXAMPLE_SNAPSHOT_H_

#include <string>

#include "tools/top/snapshot.h"

namespace utlz::top {

inline constexpr uint64_t kNoonNs = 43'200'000'000'000;  // of the first day, in UTC
inline constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

inline GpuSnapshot ExampleGpu(unsigned index) {
  GpuSnapshot gpu = {.index = index, .name = "NVIDIA H200"};
  gpu.uuid = "GPU-" + std::to_string(index);
  gpu.source = ComputeSource::kGpm;
  gpu.gpu_util_percent = 99;
  gpu.sm_active_percent = 84.7;
  gpu.tensor_active_percent = 37.6;
  gpu.compute_percent = 37.6;
  gpu.dram_active_percent = 35.9;
  gpu.attained_compute_percent = 79;
  gpu.attained_dram_percent = 92;
  gpu.sm_clock_mhz = 1755;
  gpu.sm_clock_max_mhz = 1980;
  gpu.clock_limit_reasons = 0x4;
  gpu.power_watts = 690;
  gpu.power_limit_watts = 700;
  gpu.temperature_celsius = 61;
  gpu.memory_used_bytes = static_cast<uint64_t>(61.25 * kGibibyte);
  gpu.memory_total_bytes = static_cast<uint64_t>(140.5 * kGibibyte);
  gpu.memory_change_bytes_per_second = 2 * 1024 * 1024;
  gpu.pcie_rx_bytes_per_second = 1.2e9;
  gpu.pcie_tx_bytes_per_second = 0.3e9;
  gpu.processes.emplace();
  return gpu;
}

inline ProcessSnapshot ExampleProcess(pid_t pid, const std::string& user,
                                      const std::string& command) {
  ProcessSnapshot process = {
      .pid = pid, .memory_bytes = 61ull << 30, .user = user, .command = command};
  process.user_id = user == "root" ? 0 : 1000;
  process.cpu_percent = 101;
  process.host_memory_bytes = 5ull << 30;
  process.age_seconds = 3725;
  return process;
}

inline LiveKernel ExampleKernel(uint32_t id, const std::string& name, double share, Bound bound) {
  LiveKernel kernel;
  kernel.set_id(id);
  kernel.set_name(name);
  kernel.set_device_uuid("GPU-0");
  kernel.add_pids(1234);
  kernel.set_time_share(share);
  kernel.set_mean_time_ns(87'700);
  kernel.set_bound(bound);
  kernel.set_roof_share(0.76);
  kernel.set_flops_per_second(719e12);
  kernel.set_dram_bytes_per_second(1.16e12);
  kernel.set_family("gemm");
  return kernel;
}

inline LiveOwner ExampleOwner(uint32_t id, const std::string& kind, const std::string& name,
                              double share) {
  LiveOwner owner;
  owner.set_id(id);
  owner.set_kind(kind);
  owner.set_name(name);
  owner.set_time_share(share);
  owner.set_mean_time_ns(31'000);
  owner.set_bound(BOUND_COMPUTE);
  owner.set_roof_share(0.61);
  owner.set_flops_per_second(512e12);
  owner.set_dram_bytes_per_second(0.9e12);
  return owner;
}

inline void AddExampleOwners(LiveSnapshot* run) {
  LiveOwner* const layer = run->add_layers();
  *layer = ExampleOwner(3, "layer", "blocks.*.mlp.up", 0.45);
  layer->set_module_class("Linear");
  layer->set_instances(24);
  *run->add_layers() = ExampleOwner(8, "optimizer", "(optimizer)", 0.3);
  *run->add_layers() = ExampleOwner(1, "layer", "evil\x1b[31mlayer", 0.25);
  *run->add_lines() = ExampleOwner(3, "line", "model.py:41 Block.forward", 0.6);
  *run->add_lines() = ExampleOwner(5, "line", "train.py:7 step", 0.4);
}

inline LiveSnapshot ExampleRun() {
  LiveSnapshot run;
  run.set_collector_pid(99);
  run.set_accepted(true);
  run.set_span_ns(15'000'000'000);
  run.set_step_seconds(0.0305);
  run.set_mfu(0.312);
  LiveProcess* process = run.add_processes();
  process->set_pid(1234);
  process->set_live(true);
  process->set_step_seconds(0.0305);
  process->set_hfu(0.375);
  process->set_kernel_share(0.949);
  process->set_traced_share(0.12);
  process->set_rank(0);
  LiveDevice* device = run.add_devices();
  device->set_uuid("GPU-0");
  device->set_hfu(0.375);
  device->set_workload_compute_share(0.52);
  device->set_workload_memory_share(0.71);
  const auto cause = [device](const char* name, double share) {
    LiveCause* one = device->add_causes();
    one->set_name(name);
    one->set_share(share);
  };
  cause("useful", 0.37);
  cause("memory_bound", 0.34);
  cause("latency_bound", 0.19);
  cause("idle_launch", 0.07);
  cause("copies", 0.03);
  *run.add_kernels() =
      ExampleKernel(3, "nvjet_sm90_tst_256x128_64x4_2x1_v_bz_coopA_bias_TNT", 0.4, BOUND_COMPUTE);
  *run.add_kernels() = ExampleKernel(8, "vectorized_elementwise_kernel<CUDAFunctor_add<BFloat16>>",
                                     0.25, BOUND_MEMORY);
  *run.add_kernels() = ExampleKernel(5, "evil\x1b[31mname", 0.1, BOUND_UNKNOWN);
  return run;
}

inline Snapshot ExampleSnapshot(unsigned gpus = 1, bool with_agent = true) {
  Snapshot snapshot = {.time_ns = kNoonNs};
  for (unsigned index = 0; index < gpus; ++index) snapshot.gpus.push_back(ExampleGpu(index));
  auto& processes = *snapshot.gpus.front().processes;
  processes.push_back(ExampleProcess(1234, "kim", "python3 gpt_train.py --steps 500"));
  processes.push_back(ExampleProcess(77, "root", "/usr/bin/server --port 80"));
  processes.back().memory_bytes = 500ull << 20;
  processes.push_back(ExampleProcess(1300, "kim", "python3 worker.py"));
  processes.back().ancestors = {1299, 1234};
  if (with_agent) snapshot.runs.push_back(ExampleRun());
  return snapshot;
}

}  // namespace utlz::top

#endif  // UTLZ_TESTS_UNIT_TOP_EXAMPLE_SNAPSHOT_H_
