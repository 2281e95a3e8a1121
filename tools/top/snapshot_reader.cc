#include "tools/top/snapshot_reader.h"

#include <algorithm>
#include <utility>

#include "collector/clocks.h"

namespace utlz::top {

SnapshotReader::SnapshotReader(const NvmlTable& table, const std::vector<DeviceCeilings>& ceilings,
                               LiveReaders* live)
    : table_(table), live_(live) {
  unsigned count = 0;
  if (table_.device_get_count == nullptr || table_.device_get_handle_by_index == nullptr ||
      table_.device_get_count(&count) != nvml::kSuccess) {
    return;
  }
  for (unsigned index = 0; index < count; ++index) {
    nvml::DeviceHandle* handle = nullptr;
    if (table_.device_get_handle_by_index(index, &handle) != nvml::kSuccess) continue;
    gpus_.push_back(std::make_unique<GpuReader>(table_, index, handle));
    gpus_.back()->SetCeilings(ceilings);
  }
}

void SnapshotReader::SampleWhereNoGpm() {
  const bool needed =
      std::any_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return !gpu->has_gpm(); });
  if (needed) sampled_ = SampledGpus::Start();
}

Snapshot SnapshotReader::Read(uint64_t time_ns) {
  Snapshot snapshot = {.time_ns = time_ns};
  for (const auto& gpu : gpus_) snapshot.gpus.push_back(gpu->Read(time_ns));
  if (sampled_ != nullptr) {
    sampled_->Read();
    for (GpuSnapshot& gpu : snapshot.gpus) sampled_->Complete(MonotonicNs(), &gpu);
  }
  NameProcesses(&snapshot);
  if (live_ != nullptr) snapshot.runs = live_->Read(MonotonicNs());
  return snapshot;
}

void SnapshotReader::NameProcesses(Snapshot* snapshot) {
  const uint64_t now_ns = MonotonicNs();
  std::map<pid_t, ProcessNames> names;
  for (GpuSnapshot& gpu : snapshot->gpus) {
    if (!gpu.processes) continue;
    for (ProcessSnapshot& process : *gpu.processes) {
      const auto known = names_.find(process.pid);
      const auto [entry, is_new] =
          names.try_emplace(process.pid, known == names_.end() ? ProcessNames() : known->second);
      if (is_new && known == names_.end()) entry->second = ReadProcessNames(process.pid);
      process.user = entry->second.user;
      process.command = entry->second.command;
      states_.Read(now_ns, &process);
    }
  }
  states_.EndTick();
  names_ = std::move(names);
}

}  // namespace utlz::top
