#include "collector/summary/marker_summary.h"

#include <map>
#include <optional>
#include <vector>

namespace utlz {
namespace {

// Of one kernel, whatever the kinds that its launches come in.
struct LaunchWork {
  double launches = 0;
  std::optional<double> flops = 0;  // of all launches
  std::optional<double> dram_bytes = 0;
  std::vector<uint32_t> ids;  // KernelSummary.id
};

void Add(std::optional<double>* sum, std::optional<double> value) {
  if (!sum->has_value() || !value.has_value()) {
    sum->reset();
  } else {
    **sum += *value;
  }
}

std::optional<double> FlopsOf(const KernelRow& row) {
  if (row.work.flops.empty()) return std::nullopt;
  double flops = 0;
  for (const TypedFlops& typed : row.work.flops) flops += typed.flops;
  return flops * row.launches;
}

std::optional<double> BytesOf(const KernelRow& row) {
  if (!row.work.read_bytes.has_value() || !row.work.write_bytes.has_value()) return std::nullopt;
  return (row.work.read_bytes->value + row.work.write_bytes->value) * row.launches;
}

std::map<uint32_t, LaunchWork> WorkByKernel(const Analysis& analysis) {
  std::map<uint32_t, LaunchWork> kernels;
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    const KernelRow& row = analysis.rows[i];
    LaunchWork& work = kernels[row.kernel];
    work.launches += row.launches;
    Add(&work.flops, FlopsOf(row));
    Add(&work.dram_bytes, BytesOf(row));
    work.ids.push_back(static_cast<uint32_t>(i) + 1);
  }
  return kernels;
}

std::optional<double> Part(std::optional<double> of_all, double share) {
  if (!of_all.has_value()) return std::nullopt;
  return *of_all * share;
}

void SetKernels(const MarkerKernels& kernels, const std::map<uint32_t, LaunchWork>& works,
                MarkerSummary* marker) {
  uint64_t launches = 0;
  uint64_t time_ns = 0;
  std::optional<double> flops = 0;
  std::optional<double> dram_bytes = 0;
  for (const auto& [kernel, placed] : kernels.by_kernel) {
    launches += placed.launches;
    time_ns += placed.time_ns;
    const auto work = works.find(kernel);
    if (work == works.end() || work->second.launches <= 0) {
      flops.reset();
      dram_bytes.reset();
      continue;
    }
    const double share = static_cast<double>(placed.launches) / work->second.launches;
    Add(&flops, Part(work->second.flops, share));
    Add(&dram_bytes, Part(work->second.dram_bytes, share));
    for (const uint32_t id : work->second.ids) marker->add_kernel_ids(id);
  }
  marker->set_launches(launches);
  marker->set_kernel_time_ns(time_ns);
  if (launches == 0) return;
  if (flops.has_value()) marker->set_flops(*flops);
  if (dram_bytes.has_value()) marker->set_dram_bytes(*dram_bytes);
}

}  // namespace

void SummarizeMarkers(const RunState& state, const Analysis& analysis, Summary* summary) {
  const std::map<uint32_t, LaunchWork> works = WorkByKernel(analysis);
  for (const auto& [key, count] : state.markers.counts()) {
    MarkerSummary* marker = summary->add_nvtx();
    marker->set_domain(key.first);
    marker->set_name(key.second);
    marker->set_count(count.count);
    marker->set_time_ns(count.time_ns);
    if (count.kernels.seen && !count.kernels.incomplete) {
      SetKernels(count.kernels, works, marker);
    }
  }
}

}  // namespace utlz
