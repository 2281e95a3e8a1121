// What `utlz top` knows at one moment. Every output renders this, so that none says more or less.
// What is not known has no value.
#ifndef UTLZ_TOOLS_TOP_SNAPSHOT_H_
#define UTLZ_TOOLS_TOP_SNAPSHOT_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/live.pb.h"

namespace utlz::top {

struct ProcessSnapshot {
  pid_t pid = 0;
  std::optional<uint64_t> memory_bytes = {};  // on this GPU
  std::string user = {};                      // name, or number; empty: unknown
  std::string command = {};                   // printable, cut; empty: unknown
  std::optional<uid_t> user_id = {};
  std::vector<pid_t> ancestors = {};       // its parent first, as far as is known
  std::optional<double> cpu_percent = {};  // of one core, since the tick before
  std::optional<uint64_t> host_memory_bytes = {};
  std::optional<double> age_seconds = {};
};

// Where it is known from how much of the GPU works.
enum class ComputeSource { kNvml, kGpm, kSampler };

struct GpuSnapshot {
  unsigned index = 0;     // NVML's number
  std::string name = {};  // empty: unknown
  std::string uuid = {};  // "GPU-…"; empty: unknown
  ComputeSource source = ComputeSource::kNvml;
  std::string source_reason = {};  // why it is not better; empty: it is, or nobody said

  // Share of the time in which any kernel ran: high also where one SM of 132 works.
  std::optional<double> gpu_util_percent = {};

  // Of GPM, over the time since the tick before; of the sampler, over its samples of that time.
  std::optional<double> sm_active_percent = {};
  std::optional<double> sm_occupancy_percent = {};
  std::optional<double> tensor_active_percent = {};
  std::optional<double> dram_active_percent = {};
  // The busiest of the pipes that compute: tensor, fp16, fp32, fp64.
  std::optional<double> compute_percent = {};
  // What `utlz calibrate` attained on this GPU, of the same.
  std::optional<double> attained_compute_percent = {};
  std::optional<double> attained_dram_percent = {};
  std::optional<double> pcie_rx_bytes_per_second = {};
  std::optional<double> pcie_tx_bytes_per_second = {};
  std::optional<double> nvlink_rx_bytes_per_second = {};
  std::optional<double> nvlink_tx_bytes_per_second = {};

  std::optional<double> sm_clock_mhz = {};
  std::optional<double> sm_clock_max_mhz = {};
  std::optional<double> memory_clock_mhz = {};
  std::optional<uint64_t> clock_limit_reasons = {};  // bits of nvml::kClocks…
  std::optional<double> power_watts = {};
  std::optional<double> power_limit_watts = {};
  std::optional<double> temperature_celsius = {};

  std::optional<uint64_t> memory_used_bytes = {};
  std::optional<uint64_t> memory_total_bytes = {};
  // Over the last minute at most; no value at the first tick.
  std::optional<double> memory_change_bytes_per_second = {};

  std::optional<std::vector<ProcessSnapshot>> processes = {};  // no value: NVML does not list them
};

struct Snapshot {
  uint64_t time_ns = 0;  // since 1970
  std::vector<GpuSnapshot> gpus = {};
  std::vector<LiveSnapshot> runs = {};  // sent by collectors and checked; text is not escaped
};

// "GPM", "PM" of samples of the counters, or "NVML": then only GPU-Util is known of what the GPU
// computes.
const char* NameOf(ComputeSource source);

// When the memory will be full if it goes on as in the last minute. No value where it does not
// grow, or in more than a year.
std::optional<double> SecondsUntilFull(const GpuSnapshot& gpu);

// The run that this process is part of, and its part; null if no collector reports it.
struct RunOfProcess {
  const LiveSnapshot* run = nullptr;
  const LiveProcess* process = nullptr;
};
RunOfProcess FindRun(const Snapshot& snapshot, pid_t pid);

// SM active / GPU-Util. No value where one is unknown, or where the GPU was not busy. NVML reads
// the two over different times, so while the load changes it may exceed 100.
std::optional<double> EfficiencyScorePercent(const GpuSnapshot& gpu);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SNAPSHOT_H_
