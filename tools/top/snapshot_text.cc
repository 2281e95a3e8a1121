#include "tools/top/snapshot_text.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/top/clock_limits.h"
#include "tools/top/time_of_day.h"

namespace utlz::top {
namespace {

constexpr double kBytesPerGibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr double kBytesPerMebibyte = 1024.0 * 1024.0;
constexpr double kBytesPerGigabyte = 1e9;
constexpr size_t kNameColumns = 40;

void AddPercent(const char* name, std::optional<double> percent, std::string* line) {
  if (percent) absl::StrAppendFormat(line, "  %s %.1f%%", name, *percent);
}

// "690 of 700 W".
void AddOfMost(std::optional<double> value, std::optional<double> most, const char* unit,
               std::string* line) {
  if (!value) return;
  absl::StrAppendFormat(line, "  %.0f", *value);
  if (most) absl::StrAppendFormat(line, " of %.0f", *most);
  absl::StrAppend(line, " ", unit);
}

void AddActivity(const GpuSnapshot& gpu, std::string* line) {
  AddPercent("GPU-Util", gpu.gpu_util_percent, line);
  AddPercent("SM", gpu.sm_active_percent, line);
  AddPercent("tensor", gpu.tensor_active_percent, line);
  AddPercent("DRAM", gpu.dram_active_percent, line);
  AddPercent("score", EfficiencyScorePercent(gpu), line);
  absl::StrAppend(line, "  (", NameOf(gpu.source), ")");
}

void AddClocks(const GpuSnapshot& gpu, std::string* line) {
  AddOfMost(gpu.sm_clock_mhz, gpu.sm_clock_max_mhz, "MHz", line);
  if (!gpu.clock_limit_reasons || *gpu.clock_limit_reasons == 0) return;
  absl::StrAppend(line, " (", absl::StrJoin(ClockLimitNames(*gpu.clock_limit_reasons), ", "), ")");
}

void AddMemory(const GpuSnapshot& gpu, std::string* line) {
  if (!gpu.memory_used_bytes) return;
  absl::StrAppendFormat(line, "  %.1f",
                        static_cast<double>(*gpu.memory_used_bytes) / kBytesPerGibibyte);
  if (gpu.memory_total_bytes) {
    absl::StrAppendFormat(line, " of %.1f",
                          static_cast<double>(*gpu.memory_total_bytes) / kBytesPerGibibyte);
  }
  absl::StrAppend(line, " GiB");
  if (gpu.memory_change_bytes_per_second) {
    absl::StrAppendFormat(line, " (%+.1f MiB/s)",
                          *gpu.memory_change_bytes_per_second / kBytesPerMebibyte);
  }
}

void AddLink(const char* name, std::optional<double> rx, std::optional<double> tx,
             std::string* line) {
  if (!rx && !tx) return;
  absl::StrAppend(line, "  ", name);
  if (rx) absl::StrAppendFormat(line, " in %.2f", *rx / kBytesPerGigabyte);
  if (tx) absl::StrAppendFormat(line, " out %.2f", *tx / kBytesPerGigabyte);
  absl::StrAppend(line, " GB/s");
}

std::string GpuLine(const GpuSnapshot& gpu) {
  std::string line = absl::StrCat("GPU ", gpu.index);
  AddActivity(gpu, &line);
  AddClocks(gpu, &line);
  AddOfMost(gpu.power_watts, gpu.power_limit_watts, "W", &line);
  AddOfMost(gpu.temperature_celsius, std::nullopt, "C", &line);
  AddMemory(gpu, &line);
  AddLink("PCIe", gpu.pcie_rx_bytes_per_second, gpu.pcie_tx_bytes_per_second, &line);
  AddLink("NVLink", gpu.nvlink_rx_bytes_per_second, gpu.nvlink_tx_bytes_per_second, &line);
  return line + "\n";
}

// Of a LiveKernel or a LiveOwner: what takes most time of its kind.
template <typename Entries>
void AddLongest(const char* kind, const Entries& entries, std::string* line) {
  if (entries.empty()) return;
  const auto& longest = entries[0];
  AddPercent(
      absl::StrCat(kind, " ", TerminalName(longest.name(), kNameColumns)).c_str(),
      longest.has_time_share() ? std::make_optional(100 * longest.time_share()) : std::nullopt,
      line);
}

// "run of 7:  step 30.5 ms  HFU 37.5%  MFU 31.2%  most time: gemm 40.0%  layer blocks.*.mlp 31.0%".
std::string RunLine(const LiveSnapshot& run) {
  std::string line = "run of";
  const bool any = std::any_of(run.processes().begin(), run.processes().end(),
                               [](const LiveProcess& process) { return process.live(); });
  if (!any) {
    const std::string name =
        run.command().empty() ? absl::StrCat("run that process ", run.collector_pid(), " records")
                              : absl::StrCat(line, " ", TerminalName(run.command(), kNameColumns));
    return name + ":  no process uses CUDA now\n";
  }
  double hfu = 0;
  int known = 0;
  for (const LiveProcess& process : run.processes()) {
    if (process.live()) absl::StrAppend(&line, " ", process.pid());
    if (process.has_hfu()) {
      hfu += process.hfu();
      ++known;
    }
  }
  absl::StrAppend(&line, ":");
  if (run.has_step_seconds()) absl::StrAppend(&line, "  step ", TimeText(run.step_seconds() * 1e9));
  if (known > 0) AddPercent("HFU", 100 * hfu / known, &line);
  if (run.has_mfu()) AddPercent("MFU", 100 * run.mfu(), &line);
  AddLongest("most time:", run.kernels(), &line);
  AddLongest("layer", run.layers(), &line);
  AddLongest("line", run.lines(), &line);
  return line + "\n";
}

std::string ProcessLine(const ProcessSnapshot& process) {
  const std::string memory =
      process.memory_bytes ? absl::StrCat(*process.memory_bytes >> 20, " MiB") : "-";
  return absl::StrFormat("%10d  %-12s %10s  %s\n", process.pid,
                         process.user.empty() ? "-" : process.user, memory,
                         process.command.empty() ? "-" : process.command);
}

}  // namespace

std::string SnapshotLines(const Snapshot& snapshot) {
  std::string text;
  const std::string time = TimeOfDay(snapshot.time_ns);
  for (const GpuSnapshot& gpu : snapshot.gpus) absl::StrAppend(&text, time, "  ", GpuLine(gpu));
  for (const LiveSnapshot& run : snapshot.runs) absl::StrAppend(&text, time, "  ", RunLine(run));
  return text;
}

std::string SnapshotPage(const Snapshot& snapshot) {
  std::string text;
  const std::string time = TimeOfDay(snapshot.time_ns);
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    absl::StrAppend(&text, time, "  ", GpuLine(gpu));
    if (!gpu.processes) continue;
    for (const ProcessSnapshot& process : *gpu.processes) {
      absl::StrAppend(&text, ProcessLine(process));
    }
  }
  for (const LiveSnapshot& run : snapshot.runs) absl::StrAppend(&text, time, "  ", RunLine(run));
  return text;
}

}  // namespace utlz::top
