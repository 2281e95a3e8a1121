#include "tools/processes/gpu_processes.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "collector/sampler/driver/nvml_table.h"
#include "collector/sampler_name.h"
#include "tools/attach/target/process_facts.h"
#include "tools/processes/process_names.h"

namespace utlz {
namespace {

constexpr unsigned kMaxProcesses = 4096;
constexpr unsigned long long kUnknownMemory = ~0ull;

std::string CommandOf(const attach::ProcessFacts& facts) {
  std::string command = CommandLine(facts.pid);
  return command.empty() ? facts.name : command;
}

void AddDevice(const NvmlTable& nvml, unsigned index, std::map<pid_t, GpuProcess>* processes) {
  nvml::DeviceHandle* device = nullptr;
  if (nvml.device_get_handle_by_index(index, &device) != nvml::kSuccess) return;
  unsigned count = kMaxProcesses;
  std::vector<nvml::ProcessInfo> listed(count);
  if (nvml.device_get_compute_processes(device, &count, listed.data()) != nvml::kSuccess) return;
  listed.resize(std::min(count, kMaxProcesses));
  for (const nvml::ProcessInfo& entry : listed) {
    GpuProcess& process = (*processes)[static_cast<pid_t>(entry.pid)];
    process.gpus.insert(index);
    if (entry.used_gpu_memory != kUnknownMemory) {
      process.memory_bytes = process.memory_bytes.value_or(0) + entry.used_gpu_memory;
    }
  }
}

std::map<pid_t, GpuProcess> ListedByNvml() {
  std::map<pid_t, GpuProcess> processes;
  const auto nvml = LoadNvml();
  unsigned devices = 0;
  if (!nvml.ok() || nvml->device_get_count == nullptr ||
      nvml->device_get_handle_by_index == nullptr ||
      nvml->device_get_compute_processes == nullptr ||
      nvml->device_get_count(&devices) != nvml::kSuccess) {
    return processes;
  }
  for (unsigned index = 0; index < devices; ++index) AddDevice(*nvml, index, &processes);
  return processes;
}

std::map<pid_t, GpuProcess> WithCudaDriver() {
  std::map<pid_t, GpuProcess> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    const auto facts = attach::ReadProcessFacts(pid);
    if (facts.ok() && facts->has_cuda_driver) processes.emplace(pid, GpuProcess());
  }
  return processes;
}

// False where it is gone, is a sampler of ours, or is not the process that NVML meant: in a
// container NVML may count in the host's numbers.
bool Complete(pid_t pid, GpuProcess* process) {
  const auto facts = attach::ReadProcessFacts(pid);
  if (!facts.ok() || (facts->may_trace && !facts->has_cuda_driver)) return false;
  if (facts->name == kSamplerProcessName) return false;
  process->pid = pid;
  process->user = UserName(facts->user_id);
  process->command = CommandOf(*facts);
  process->agent = attach::ReadAgentPresence(pid);
  return true;
}

std::vector<GpuProcess> Completed(std::map<pid_t, GpuProcess> processes) {
  std::vector<GpuProcess> completed;
  for (auto& [pid, process] : processes) {
    if (Complete(pid, &process)) completed.push_back(std::move(process));
  }
  return completed;
}

}  // namespace

std::vector<GpuProcess> FindGpuProcesses() {
  std::vector<GpuProcess> processes = Completed(ListedByNvml());
  return processes.empty() ? Completed(WithCudaDriver()) : processes;
}

std::string RenderGpuProcesses(const std::vector<GpuProcess>& processes) {
  if (processes.empty()) return "no process that this user may see uses a GPU\n";
  std::string text = absl::StrFormat("%8s %-12s %-6s %10s %-8s %s\n", "PID", "USER", "GPU",
                                     "MEMORY", "AGENT", "COMMAND");
  for (const GpuProcess& process : processes) {
    const std::string memory =
        process.memory_bytes ? absl::StrCat(*process.memory_bytes >> 20, " MiB") : "-";
    const std::string gpus = process.gpus.empty() ? "-" : absl::StrJoin(process.gpus, ",");
    absl::StrAppendFormat(&text, "%8d %-12s %-6s %10s %-8s %s\n", process.pid, process.user, gpus,
                          memory, attach::PresenceName(process.agent), process.command);
  }
  return text;
}

}  // namespace utlz
