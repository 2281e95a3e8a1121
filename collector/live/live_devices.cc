#include "collector/live/live_devices.h"

#include <algorithm>
#include <optional>

#include "collector/gpu_uuid.h"
#include "collector/live/live_message.h"

namespace utlz {
namespace {

// Where the roofs of fewer kernels are known, they say nothing of the workload.
constexpr double kEnoughKnown = 0.5;

void SetRates(const DeviceRates& rates, LiveDevice* shown) {
  if (rates.hfu) shown->set_hfu(std::clamp(*rates.hfu, 0.0, 1.0));
  if (rates.compute_speed_of_light) shown->set_compute_share(*rates.compute_speed_of_light);
  if (rates.memory_speed_of_light) {
    shown->set_memory_share(std::clamp(*rates.memory_speed_of_light, 0.0, 1.0));
  }
  if (rates.sm_active) shown->set_sm_active(std::clamp(*rates.sm_active, 0.0, 1.0));
  if (rates.busy) shown->set_busy(*rates.busy);
}

// Of the data type that most programs compute in, as far as it was measured.
std::optional<double> AttainedCompute(const Ceilings& ceilings) {
  for (const char* type : {"bf16", "fp16", "tf32", "fp32"}) {
    const auto attained = ceilings.attained_flops_per_second.find(type);
    const auto peak = ceilings.FlopsPerSecond(type);
    if (attained == ceilings.attained_flops_per_second.end() || !peak || *peak <= 0) continue;
    return std::min(1.0, attained->second / *peak);
  }
  return std::nullopt;
}

void SetAttained(const Ceilings& ceilings, LiveDevice* shown) {
  if (const auto compute = AttainedCompute(ceilings)) shown->set_attained_compute_share(*compute);
  if (ceilings.attained_dram_bytes_per_second > 0 && ceilings.dram_bytes_per_second > 0) {
    shown->set_attained_memory_share(
        std::min(1.0, ceilings.attained_dram_bytes_per_second / ceilings.dram_bytes_per_second));
  }
}

double PeakNs(const KernelRow& row, const Ceilings& ceilings) {
  double peak_ns = 0;
  for (const TypedFlops& flops : row.work.flops) {
    const auto peak = ceilings.FlopsPerSecond(flops.data_type);
    if (!flops.by_pipe && peak && *peak > 0) peak_ns += row.launches * flops.flops / *peak * 1e9;
  }
  return peak_ns;
}

}  // namespace

// As the report's attainable HFU, by device.
LiveDevices::Workload LiveDevices::WorkloadOf(const RunState& run_state, const Analysis& analysis,
                                              uint32_t device) {
  double all_ns = 0;
  double known_ns = 0;
  double roofline_ns = 0;
  double compute_ns = 0;
  double memory_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    if (run_state.kernels[row.kernel].device != device || row.roofline.communication) continue;
    all_ns += row.time_ns;
    const auto roof_ns = RooflineTimeNs(row.roofline);
    if (!roof_ns) continue;
    known_ns += row.time_ns;
    roofline_ns += *roof_ns;
    compute_ns += PeakNs(row, analysis.devices[device].ceilings);
    memory_ns += row.roofline.memory_time_ns.value_or(0);
  }
  Workload workload;
  if (roofline_ns <= 0 || known_ns < kEnoughKnown * all_ns) return workload;
  if (compute_ns > 0) workload.compute_share = std::min(1.0, compute_ns / roofline_ns);
  if (memory_ns > 0) workload.memory_share = std::min(1.0, memory_ns / roofline_ns);
  return workload;
}

void LiveDevices::Renew(const RunState& run_state, const Analysis& analysis) {
  workloads_.clear();
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    workloads_.push_back(WorkloadOf(run_state, analysis, i));
  }
}

void LiveDevices::Update(const RunState& run_state, const WorkLedger& work,
                         const TimeLedger& time) {
  histories_.resize(run_state.devices.size());
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    const DeviceWork of_device = i < work.devices().size() ? work.devices()[i] : DeviceWork();
    histories_[i].Add(PointOf(run_state, i, of_device, time.devices()[i]));
  }
}

// Of the time that was traced: what was not says nothing.
void LiveDevices::AddCauses(size_t device, LiveDevice* shown) const {
  const auto growth = histories_[device].TimeGrowth();
  if (!growth.has_value()) return;
  CauseTimes growth_ns = growth->time_ns;
  growth_ns[static_cast<size_t>(TimeCause::kUntraced)] = 0;
  double all_ns = 0;
  for (const double time_ns : growth_ns) all_ns += time_ns;
  if (all_ns <= 0) return;
  for (size_t i = 0; i < kTimeCauses; ++i) {
    if (growth_ns[i] <= 0) continue;
    LiveCause* const cause = shown->add_causes();
    cause->set_name(NameOf(static_cast<TimeCause>(i)));
    cause->set_share(growth_ns[i] / all_ns);
  }
}

void LiveDevices::AddTo(const RunState& run_state, LiveSnapshot* snapshot) const {
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    if (!run_state.devices[i].used || snapshot->devices_size() >= kMaxLiveDevices) continue;
    const Ceilings ceilings = CeilingsOf(run_state.devices[i]);
    LiveDevice* const shown = snapshot->add_devices();
    shown->set_uuid(FormatGpuUuid(run_state.devices[i].uuid));
    SetRates(histories_[i].Rates(ceilings), shown);
    SetAttained(ceilings, shown);
    if (i < workloads_.size()) {
      const Workload& workload = workloads_[i];
      if (workload.compute_share) shown->set_workload_compute_share(*workload.compute_share);
      if (workload.memory_share) shown->set_workload_memory_share(*workload.memory_share);
    }
    AddCauses(i, shown);
  }
}

}  // namespace utlz
