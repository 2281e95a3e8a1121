#include "collector/metrics/metric_table.h"

#include <array>

namespace utlz {
namespace {

constexpr MetricType kCounter = MetricType::kCounter;
constexpr MetricType kGauge = MetricType::kGauge;

// For people: `gpu` stands for gpu, UUID, device and modelName, `process` for pid, process, rank,
// pod, namespace, container and hpc_job.
constexpr char kOfGpu[] = "gpu";
constexpr char kOfProcess[] = "process";
constexpr char kOfBoth[] = "gpu, process";
constexpr char kOfFamily[] = "gpu, process, family";

// In the order of Metric.
constexpr std::array<MetricDescription, kMetrics> kTable = {{
    {"utlz_flops_total", kCounter, "", "gpu, process, data_type",
     "FLOPs of tensor cores, by measurement. At most 128 pairs of process and GPU, 16 data types; "
     "what is beyond counts as other."},
    {"utlz_flops_peak_seconds_total", kCounter, "seconds", kOfBoth,
     "Time that these FLOPs need at the peak of the GPU; its rate is the HFU. At most 128 pairs of "
     "process and GPU."},
    {"utlz_dram_read_bytes_total", kCounter, "bytes", kOfBoth,
     "Bytes that kernels read from the GPU's memory, by measurement. At most 128 pairs of process "
     "and GPU."},
    {"utlz_dram_write_bytes_total", kCounter, "bytes", kOfBoth,
     "Bytes that kernels wrote to the GPU's memory, by measurement. At most 128 pairs of process "
     "and GPU."},
    {"utlz_kernel_seconds_total", kCounter, "seconds", kOfFamily,
     "Time of kernels, those at once counted each. 12 families, other among them; at most 128 "
     "pairs of process and GPU."},
    {"utlz_kernel_launches_total", kCounter, "", kOfFamily,
     "Kernels that ran. 12 families, other among them; at most 128 pairs of process and GPU."},
    {"utlz_estimated_savings_seconds_total", kCounter, "seconds", kOfFamily,
     "Time of kernels beyond what their FLOPs and bytes need at the peaks. 12 families; at most "
     "128 pairs of process and GPU."},
    {"utlz_kernel_uncounted_seconds_total", kCounter, "seconds", kOfBoth,
     "Time of kernels whose FLOPs are not known: utlz_flops_total misses what they did. At most "
     "128 "
     "pairs of process and GPU."},
    {"utlz_dram_uncounted_seconds_total", kCounter, "seconds", kOfBoth,
     "Time of kernels whose bytes are not known: the two counters of bytes miss what they moved. "
     "At "
     "most 128 pairs of process and GPU."},
    {"utlz_gpu_time_seconds_total", kCounter, "seconds", "gpu, cause",
     "Time by what it went to: useful, bound kernels, exposed communication, copies, idle by "
     "cause, "
     "not traced. At most 16 causes a GPU."},
    {"utlz_energy_joules_total", kCounter, "joules", kOfGpu,
     "Energy that the GPU took since the run began, by NVML. One a GPU."},
    {"utlz_hfu_ratio", kGauge, "ratio", kOfGpu,
     "FLOPs of the last 15 s as a share of the peak. Absent while most kernels are not counted. "
     "One a GPU."},
    {"utlz_compute_speed_of_light_ratio", kGauge, "ratio", kOfGpu,
     "Share of the tensor cores' peak in the last 15 s, by samples or NVML's GPM. One a GPU."},
    {"utlz_memory_speed_of_light_ratio", kGauge, "ratio", kOfGpu,
     "Share of the memory's peak bandwidth in the last 15 s, by samples or NVML's GPM. One a GPU."},
    {"utlz_sm_active_ratio", kGauge, "ratio", kOfGpu,
     "Share of the multiprocessors' time with a warp in the last 15 s, by samples or NVML's GPM. "
     "One a GPU."},
    {"utlz_gpu_busy_ratio", kGauge, "ratio", kOfGpu,
     "Share of the traced time of 15 s, up to 3 s ago, in which a kernel or a copy ran. One a "
     "GPU."},
    {"utlz_nvml_busy_ratio", kGauge, "ratio", kOfGpu,
     "What nvidia-smi calls utilization, over the last 15 s: something ran, however little. One a "
     "GPU."},
    {"utlz_gpu_temperature_celsius", kGauge, "celsius", kOfGpu,
     "Temperature as NVML read it last. One a GPU."},
    {"utlz_gpu_memory_used_bytes", kGauge, "bytes", kOfGpu,
     "Memory in use by all programs, as NVML read it last. One a GPU."},
    {"utlz_gpu_memory_size_bytes", kGauge, "bytes", kOfGpu, "Memory that the GPU has. One a GPU."},
    {"utlz_clock_limited_seconds_total", kCounter, "seconds", "gpu, reason",
     "Time in which NVML named this reason for a low clock. At most 8 reasons a GPU."},
    {"utlz_steps_total", kCounter, "", "", "Steps of the job, untraced ones estimated. One."},
    {"utlz_step_seconds", kGauge, "seconds", "",
     "Mean time from step to step over the last 15 s or three steps. Absent where none came for 45 "
     "s or six steps. One."},
    {"utlz_tokens_total", kCounter, "", "", "Tokens, where the run knows those of a step. One."},
    {"utlz_items_total", kCounter, "", "", "Items, where the run knows those of a step. One."},
    {"utlz_model_flops_total", kCounter, "", "",
     "FLOPs that the model needs for the steps so far, where the run knows them. One."},
    {"utlz_mfu_ratio", kGauge, "ratio", "",
     "FLOPs that the model needs, as a share of the peak of all GPUs, over the time of "
     "utlz_step_seconds. Absent above 1: then the FLOPs given are not the run's. One."},
    {"utlz_process_step_seconds", kGauge, "seconds", kOfProcess,
     "Mean time from step to step of this process over the last 15 s or three steps. Of more than "
     "eight that share a GPU, some have none. At most 128 processes."},
    {"utlz_process_hfu_ratio", kGauge, "ratio", kOfProcess,
     "FLOPs of the process in the last 15 s as a share of the peak of the GPUs that it works on. "
     "Absent while most of its kernels are not counted. At most 128 processes."},
    {"utlz_process_mfu_ratio", kGauge, "ratio", kOfProcess,
     "utlz_mfu_ratio of a run whose other processes do nothing on a GPU. One."},
    {"utlz_process_operations_total", kCounter, "", kOfProcess,
     "Kernels, copies, memory sets and launches of graphs, untraced ones too, by CUPTI's numbers. "
     "At most 129 processes."},
    {"utlz_traced_ratio", kGauge, "ratio", kOfProcess,
     "Share of the process's time in which its kernels were traced. At most 129 processes."},
    {"utlz_agent_cost_seconds_total", kCounter, "seconds", kOfProcess,
     "Time that tracing took of the process, as the agent reckons. At most 129 processes."},
    {"utlz_launches_dropped_total", kCounter, "", kOfProcess,
     "Launches that the agent dropped since the collector was slow. At most 129 processes."},
    {"utlz_launches_untimed_total", kCounter, "", kOfProcess,
     "Launches for which CUPTI gave no times. At most 129 processes."},
    {"utlz_records_lost_total", kCounter, "", kOfProcess,
     "Records that CUPTI dropped. At most 129 processes."},
    {"utlz_samples_total", kCounter, "", kOfGpu, "Samples of counters. One a GPU."},
    {"utlz_samples_lost_total", kCounter, "", kOfGpu,
     "Samples of counters that were lost or refused. One a GPU."},
    {"utlz_app_requests_total", kCounter, "", "engine",
     "Requests that the server answered, by its own page. One."},
    {"utlz_app_tokens_total", kCounter, "", "engine, kind",
     "Tokens of prompts, and generated ones, by the server's page. Two."},
    {"utlz_app_estimated_flops_total", kCounter, "", "engine",
     "FLOPs of one GPU by the server's own formula; utlz_flops_total is what was measured. One."},
    {"utlz_app_requests_per_second", kGauge, "", "engine",
     "Requests that were answered in the last 30 s, a second. One."},
    {"utlz_app_tokens_per_second", kGauge, "", "engine",
     "Tokens that were generated in the last 30 s, a second. One."},
    {"utlz_app_tokens_per_joule", kGauge, "", "engine",
     "The same a joule of all GPUs: tokens per second and watt. One."},
    {"utlz_app_joules_per_token", kGauge, "", "engine",
     "Energy of all GPUs for a token that was generated in the last 30 s. One."},
    {"utlz_app_cost_per_token", kGauge, "", "engine",
     "Price of all GPUs for a token that was generated in the last 30 s, in the currency of "
     "--price-per-hour. Absent without that option. One."},
    {"utlz_app_tokens_per_second_per_roof", kGauge, "", "engine",
     "Tokens a second for each hundredth of the roof that the GPUs reach: of compute or memory, "
     "whichever is nearer. One."},
    {"utlz_app_requests_waiting", kGauge, "", "engine", "Requests in the server's queue. One."},
    {"utlz_app_requests_running", kGauge, "", "engine", "Requests that the server works on. One."},
    {"utlz_app_first_token_seconds", kGauge, "seconds", "engine, share",
     "Time to first token that 99 of 100 requests of the last 30 s were within. One."},
    {"utlz_app_timestamp_seconds", kGauge, "seconds", "engine",
     "When the server's page was last read, since 1970. One."},
    {"utlz_alarm", kGauge, "", "alarm, UUID, pid, rank",
     "1 while the alarm is raised: hfu_fell, steps_slower, rank_lags, gpu_held_idle, "
     "collective_hangs, queue_grows. At most 64."},
    {"utlz_alarms_total", kCounter, "", "alarm", "Alarms that were raised. One a kind, 6."},
    {"utlz_frames_refused_total", kCounter, "", "",
     "Messages of processes that broke a rule and had no effect. One."},
    {"utlz_collector_cpu_seconds_total", kCounter, "seconds", "",
     "Processor time of the collector's thread and of its analyses. One."},
    {"utlz_attribution_cpu_seconds_total", kCounter, "seconds", kOfGpu,
     "Of it, what dividing samples among kernels took. One a GPU."},
    {"utlz_snapshot_cpu_seconds_total", kCounter, "seconds", "",
     "Of the collector's, what these metrics took. One."},
    {"utlz_snapshot_timestamp_seconds", kGauge, "seconds", "",
     "When the collector made these metrics, since 1970. One."},
    {"utlz_processes", kGauge, "", "", "Processes with an agent that live. One."},
    {"utlz_build_info", kGauge, "", "version", "Always 1. One."},
}};

static_assert(kTable.back().name != nullptr, "every metric has its row");

}  // namespace

const MetricDescription& DescriptionOf(Metric metric) {
  return kTable[static_cast<size_t>(metric)];
}

}  // namespace utlz
