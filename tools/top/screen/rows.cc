#include "tools/top/screen/rows.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"

namespace utlz::top {
namespace {

constexpr double kUnknown = -std::numeric_limits<double>::infinity();

std::string Lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

bool Passes(const ProcessSnapshot& process, const View& view) {
  if (view.only_own && process.user_id != view.user) return false;
  if (view.filter.empty()) return true;
  const std::string wanted = Lower(view.filter);
  return Lower(process.command).find(wanted) != std::string::npos ||
         Lower(process.user).find(wanted) != std::string::npos ||
         std::to_string(process.pid).find(wanted) != std::string::npos;
}

// Larger is first, but of names and numbers of processes.
double RankOf(const ProcessRow& row, SortKey key) {
  const LiveSnapshot* const run = row.live.run;
  switch (key) {
    case SortKey::kGpuMemory:
      return row.memory_bytes ? static_cast<double>(*row.memory_bytes) : kUnknown;
    case SortKey::kStep:
      return run != nullptr && row.live.process->has_step_seconds()
                 ? row.live.process->step_seconds()
                 : kUnknown;
    case SortKey::kHfu:
      return run != nullptr && row.live.process->has_hfu() ? row.live.process->hfu() : kUnknown;
    case SortKey::kCpu:
      return row.process->cpu_percent.value_or(kUnknown);
    case SortKey::kHostMemory:
      return row.process->host_memory_bytes ? static_cast<double>(*row.process->host_memory_bytes)
                                            : kUnknown;
    case SortKey::kAge:
      return row.process->age_seconds.value_or(kUnknown);
    case SortKey::kPid:
      return -static_cast<double>(row.process->pid);
    case SortKey::kNatural:
    case SortKey::kUser:
      break;
  }
  return 0;
}

bool ComesBefore(const ProcessRow& a, const ProcessRow& b, SortKey key) {
  if (key == SortKey::kUser) return a.process->user < b.process->user;
  return RankOf(a, key) > RankOf(b, key);
}

// The nearest ancestor that is shown itself.
pid_t ParentOf(const ProcessRow& row, const std::map<pid_t, size_t>& places) {
  for (const pid_t ancestor : row.process->ancestors) {
    if (places.contains(ancestor)) return ancestor;
  }
  return 0;
}

// Children follow their parents, in the order that they had.
std::vector<ProcessRow> AsTree(std::vector<ProcessRow> rows, const View& view) {
  std::map<pid_t, size_t> places;
  for (size_t i = 0; i < rows.size(); ++i) places[rows[i].process->pid] = i;
  std::map<pid_t, std::vector<size_t>> children;  // by parent; 0: none
  for (size_t i = 0; i < rows.size(); ++i) children[ParentOf(rows[i], places)].push_back(i);
  std::vector<ProcessRow> tree;
  const std::function<void(pid_t, int)> add = [&](pid_t parent, int depth) {
    const auto found = children.find(parent);
    if (found == children.end()) return;
    // Taken away, so that numbers that were given anew make no circle.
    const std::vector<size_t> of_parent = std::move(found->second);
    children.erase(found);
    for (const size_t i : of_parent) {
      ProcessRow row = rows[i];
      const pid_t pid = row.process->pid;
      const auto own = children.find(pid);
      row.depth = depth;
      row.children = own == children.end() ? 0 : own->second.size();
      tree.push_back(row);
      if (!view.folded.contains(pid)) add(pid, depth + 1);
    }
  };
  add(0, 0);
  return tree;
}

// Of a LiveKernel or a LiveOwner.
template <typename Entry>
WorkRow RowOf(WorkId id, const Entry& entry) {
  const auto known = [](bool has, double value) {
    return has ? std::make_optional(value) : std::nullopt;
  };
  return {.id = id,
          .name = entry.name(),
          .time_share = known(entry.has_time_share(), entry.time_share()),
          .mean_time_ns = known(entry.has_mean_time_ns(), entry.mean_time_ns()),
          .roof_share = known(entry.has_roof_share(), entry.roof_share()),
          .flops_per_second = known(entry.has_flops_per_second(), entry.flops_per_second()),
          .dram_bytes_per_second =
              known(entry.has_dram_bytes_per_second(), entry.dram_bytes_per_second()),
          .bound = entry.bound()};
}

}  // namespace

std::vector<const GpuSnapshot*> VisibleGpus(const Snapshot& snapshot, const View& view) {
  std::vector<const GpuSnapshot*> visible;
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    if (!view.hidden_gpus.contains(gpu.index)) visible.push_back(&gpu);
  }
  return visible;
}

std::vector<ProcessRow> ProcessRows(const Snapshot& snapshot, const View& view) {
  std::vector<ProcessRow> rows;
  std::map<pid_t, size_t> places;
  for (const GpuSnapshot* gpu : VisibleGpus(snapshot, view)) {
    if (!gpu->processes) continue;
    for (const ProcessSnapshot& process : *gpu->processes) {
      if (!Passes(process, view)) continue;
      const auto [place, is_new] = places.try_emplace(process.pid, rows.size());
      if (is_new) rows.push_back({.process = &process, .live = FindRun(snapshot, process.pid)});
      ProcessRow& row = rows[place->second];
      row.gpus.push_back(gpu->index);
      if (process.memory_bytes) {
        row.memory_bytes = row.memory_bytes.value_or(0) + *process.memory_bytes;
      }
    }
  }
  if (view.sort != SortKey::kNatural) {
    std::stable_sort(rows.begin(), rows.end(), [&](const ProcessRow& a, const ProcessRow& b) {
      return ComesBefore(a, b, view.sort);
    });
  }
  if (view.reversed) std::reverse(rows.begin(), rows.end());
  return view.tree ? AsTree(std::move(rows), view) : rows;
}

std::vector<WorkRow> WorkRows(const RunOfProcess& live, WorkKind listed) {
  std::vector<WorkRow> rows;
  if (live.run == nullptr) return rows;
  const uint32_t collector = live.run->collector_pid();
  if (listed != WorkKind::kKernels) {
    const bool layers = listed == WorkKind::kLayers;
    for (const LiveOwner& owner : layers ? live.run->layers() : live.run->lines()) {
      rows.push_back(RowOf(WorkId{collector, listed, owner.id()}, owner));
      rows.back().about = owner.module_class();
      if (owner.instances() > 1) {
        absl::StrAppend(&rows.back().name, " (", owner.instances(), ")");
      }
    }
    return rows;
  }
  for (const LiveKernel& kernel : live.run->kernels()) {
    const auto& pids = kernel.pids();
    if (std::find(pids.begin(), pids.end(), live.process->pid()) == pids.end()) continue;
    rows.push_back(RowOf(WorkId{collector, listed, kernel.id()}, kernel));
    rows.back().about = kernel.family();
  }
  return rows;
}

size_t SelectedProcess(const std::vector<ProcessRow>& rows, const View& view) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].process->pid == view.process) return i;
  }
  return 0;
}

size_t SelectedWork(const std::vector<WorkRow>& rows, const View& view) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (view.work && rows[i].id == *view.work) return i;
  }
  return 0;
}

const char* NameOf(SortKey key) {
  constexpr std::array<const char*, kSortKeys> kNames = {
      "GPU", "PID", "user", "GPU memory", "step", "HFU", "CPU", "host memory", "time"};
  return kNames[static_cast<size_t>(key)];
}

const char* NameOf(WorkKind kind) {
  constexpr std::array<const char*, kWorkKinds> kNames = {"kernel", "layer", "line"};
  return kNames[static_cast<size_t>(kind)];
}

WorkKind After(WorkKind kind) {
  return static_cast<WorkKind>((static_cast<int>(kind) + 1) % kWorkKinds);
}

}  // namespace utlz::top
