#include "tools/top/snapshot_json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "collector/text/shown_text.h"
#include "tools/json/message_json.h"
#include "tools/top/clock_limits.h"

namespace utlz::top {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
void Add(const char* key, const std::optional<Value>& value, Json* object) {
  if (value) (*object)[key] = *value;
}

void Add(const char* key, const std::string& value, Json* object) {
  if (!value.empty()) (*object)[key] = value;
}

Json ProcessJson(const ProcessSnapshot& process) {
  Json object = {{"pid", process.pid}};
  Add("user", process.user, &object);
  Add("memory_bytes", process.memory_bytes, &object);
  Add("command", process.command, &object);
  Add("cpu_percent", process.cpu_percent, &object);
  Add("host_memory_bytes", process.host_memory_bytes, &object);
  Add("age_seconds", process.age_seconds, &object);
  return object;
}

void AddActivity(const GpuSnapshot& gpu, Json* object) {
  Add("gpu_util_percent", gpu.gpu_util_percent, object);
  (*object)["compute_source"] = NameOf(gpu.source);
  Add("compute_source_reason", gpu.source_reason, object);
  Add("compute_percent", gpu.compute_percent, object);
  Add("sm_active_percent", gpu.sm_active_percent, object);
  Add("sm_occupancy_percent", gpu.sm_occupancy_percent, object);
  Add("tensor_active_percent", gpu.tensor_active_percent, object);
  Add("dram_active_percent", gpu.dram_active_percent, object);
  Add("efficiency_score_percent", EfficiencyScorePercent(gpu), object);
  Add("attained_compute_percent", gpu.attained_compute_percent, object);
  Add("attained_dram_percent", gpu.attained_dram_percent, object);
}

void AddState(const GpuSnapshot& gpu, Json* object) {
  Add("sm_clock_mhz", gpu.sm_clock_mhz, object);
  Add("sm_clock_max_mhz", gpu.sm_clock_max_mhz, object);
  Add("memory_clock_mhz", gpu.memory_clock_mhz, object);
  if (gpu.clock_limit_reasons) {
    (*object)["clock_limits"] = ClockLimitNames(*gpu.clock_limit_reasons);
  }
  Add("power_watts", gpu.power_watts, object);
  Add("power_limit_watts", gpu.power_limit_watts, object);
  Add("temperature_celsius", gpu.temperature_celsius, object);
  Add("memory_used_bytes", gpu.memory_used_bytes, object);
  Add("memory_total_bytes", gpu.memory_total_bytes, object);
  Add("memory_change_bytes_per_second", gpu.memory_change_bytes_per_second, object);
  Add("seconds_until_memory_full", SecondsUntilFull(gpu), object);
}

void AddLinks(const GpuSnapshot& gpu, Json* object) {
  Add("pcie_rx_bytes_per_second", gpu.pcie_rx_bytes_per_second, object);
  Add("pcie_tx_bytes_per_second", gpu.pcie_tx_bytes_per_second, object);
  Add("nvlink_rx_bytes_per_second", gpu.nvlink_rx_bytes_per_second, object);
  Add("nvlink_tx_bytes_per_second", gpu.nvlink_tx_bytes_per_second, object);
}

Json GpuJson(const GpuSnapshot& gpu) {
  Json object = {{"index", gpu.index}};
  Add("name", gpu.name, &object);
  Add("uuid", gpu.uuid, &object);
  AddActivity(gpu, &object);
  AddState(gpu, &object);
  AddLinks(gpu, &object);
  if (gpu.processes) {
    Json processes = Json::array();
    for (const ProcessSnapshot& process : *gpu.processes) processes.push_back(ProcessJson(process));
    object["processes"] = std::move(processes);
  }
  return object;
}

}  // namespace

std::string SnapshotJson(const Snapshot& snapshot) {
  Json object = {{"schema", "utlz.top/1"}, {"time_ns", snapshot.time_ns}};
  object["gpus"] = Json::array();
  for (const GpuSnapshot& gpu : snapshot.gpus) object["gpus"].push_back(GpuJson(gpu));
  object["runs"] = Json::array();
  for (const LiveSnapshot& run : snapshot.runs) {
    object["runs"].push_back(MessageToJson(run));
    object["runs"].back().erase("accepted");
  }
  return EscapeInJson(object.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace utlz::top
