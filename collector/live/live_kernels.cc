#include "collector/live/live_kernels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_family.h"
#include "collector/kernel_names/kernel_name.h"
#include "collector/live/live_message.h"
#include "proto/valid_text.h"

namespace utlz {
namespace {

// Where every second is another kernel's, names are made anew.
constexpr size_t kMostNames = 4096;

// Sums over the rows of one kernel.
struct RowSums {
  double longest_row_ns = 0;
  Bound bound = BOUND_UNKNOWN;
  double roofed_ns = 0;  // of rows that have a roofline
  double roofline_ns = 0;
  double counted_ns = 0;  // of rows whose FLOPs are known
  double flops = 0;
  double read_ns = 0;  // of rows whose bytes are known
  double bytes = 0;
};

void AddFlops(const KernelRow& row, RowSums* sums) {
  if (row.work.flops.empty() || row.flops_uncertain) return;
  sums->counted_ns += row.time_ns;
  for (const TypedFlops& typed : row.work.flops) sums->flops += typed.flops * row.launches;
}

void AddRow(const KernelRow& row, RowSums* sums) {
  if (row.time_ns > sums->longest_row_ns) {
    sums->longest_row_ns = row.time_ns;
    sums->bound = BoundOf(row.roofline);
  }
  if (const auto roofline_ns = RooflineTimeNs(row.roofline)) {
    sums->roofed_ns += row.time_ns;
    sums->roofline_ns += *roofline_ns;
  }
  if (!row.withheld.empty()) return;
  AddFlops(row, sums);
  if (!row.work.read_bytes.has_value() || !row.work.write_bytes.has_value()) return;
  sums->read_ns += row.time_ns;
  sums->bytes += (row.work.read_bytes->value + row.work.write_bytes->value) * row.launches;
}

std::optional<double> Ratio(double part, double whole) {
  return whole > 0 ? std::make_optional(part / whole) : std::nullopt;
}

void SetPids(const RunState& run_state, const Kernel& kernel, LiveKernel* shown) {
  std::vector<std::pair<uint64_t, uint32_t>> users;  // time, source
  for (const KernelShare& share : kernel.shares) users.emplace_back(share.time_ns, share.source);
  const size_t most = std::min<size_t>(users.size(), kMaxLivePids);
  std::partial_sort(users.begin(), users.begin() + static_cast<ptrdiff_t>(most), users.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < most; ++i) {
    const auto found = run_state.processes.processes().find(users[i].second);
    if (found == run_state.processes.processes().end()) continue;
    const Process& info = found->second->info;
    shown->add_pids(info.host_pid() != 0 ? info.host_pid() : info.pid());
  }
}

std::string MadeName(const Kernel& kernel) {
  if (kernel.other) return "(other kernels)";
  if (kernel.mangled_name.empty()) return "(unknown kernel)";
  std::string name = ShortenKernelName(DemangleKernelName(kernel.mangled_name));
  if (name.size() > kMaxLiveTextBytes) name.resize(kMaxLiveTextBytes);
  MakeValidUtf8(name.data(), name.size());
  return name;
}

}  // namespace

void LiveKernels::Renew(const RunState& run_state, const Analysis& analysis) {
  std::vector<RowSums> sums(run_state.kernels.kernels().size());
  for (const KernelRow& row : analysis.rows) AddRow(row, &sums[row.kernel]);
  whole_.clear();
  whole_.reserve(sums.size());
  for (const RowSums& sum : sums) {
    const auto roof_share = Ratio(sum.roofline_ns, sum.roofed_ns);
    whole_.push_back(
        {.bound = sum.bound,
         .roof_share = roof_share ? std::make_optional(std::min(1.0, *roof_share)) : std::nullopt,
         .flops_per_second = Ratio(sum.flops * 1e9, sum.counted_ns),
         .dram_bytes_per_second = Ratio(sum.bytes * 1e9, sum.read_ns)});
  }
}

void LiveKernels::SetWork(const KernelOfWholeRun& whole, LiveKernel* shown) {
  shown->set_bound(whole.bound);
  if (whole.roof_share) shown->set_roof_share(*whole.roof_share);
  if (whole.flops_per_second) shown->set_flops_per_second(*whole.flops_per_second);
  if (whole.dram_bytes_per_second) shown->set_dram_bytes_per_second(*whole.dram_bytes_per_second);
}

void LiveKernels::Update(const RunState& run_state) {
  std::vector<LaunchSums> table;
  table.reserve(run_state.kernels.kernels().size());
  for (const Kernel& kernel : run_state.kernels.kernels()) {
    LaunchSums traced;
    for (const KernelShare& share : kernel.shares) {
      traced.launches += share.launches;
      traced.time_ns += share.time_ns;
    }
    table.push_back(traced);
  }
  recent_.Add(run_state.NewestNs(), std::move(table));
}

const std::string& LiveKernels::NameOfKernel(const Kernel& kernel, uint32_t index) {
  const auto found = names_.find(index);
  if (found != names_.end()) return found->second;
  if (names_.size() >= kMostNames) names_.clear();
  return names_.emplace(index, MadeName(kernel)).first->second;
}

void LiveKernels::AddTo(const RunState& run_state, LiveSnapshot* snapshot) {
  std::map<uint32_t, double> device_ns;
  for (uint32_t i = 0; i < run_state.kernels.kernels().size(); ++i) {
    device_ns[run_state.kernels[i].device] += static_cast<double>(recent_.Growth(i).time_ns);
  }
  const std::vector<uint32_t> longest = recent_.Longest(
      kMostShown, [&](uint32_t kernel) { return !run_state.kernels[kernel].profiler; });
  for (const uint32_t index : longest) {
    const Kernel& kernel = run_state.kernels[index];
    const LaunchSums growth = recent_.Growth(index);
    const auto time_ns = static_cast<double>(growth.time_ns);
    LiveKernel* const shown = snapshot->add_kernels();
    shown->set_id(index);
    shown->set_name(NameOfKernel(kernel, index));
    shown->set_device_uuid(FormatGpuUuid(run_state.devices[kernel.device].uuid));
    SetPids(run_state, kernel, shown);
    if (device_ns[kernel.device] > 0) shown->set_time_share(time_ns / device_ns[kernel.device]);
    if (growth.launches > 0) {
      shown->set_mean_time_ns(time_ns / static_cast<double>(growth.launches));
    }
    shown->set_family(kernel.communication ? NameOf(KernelFamily::kCommunication)
                                           : NameOf(FamilyOf(kernel.mangled_name)));
    SetWork(index < whole_.size() ? whole_[index] : KernelOfWholeRun(), shown);
  }
}

}  // namespace utlz
