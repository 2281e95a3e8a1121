#include "bench/diagnosis/kernel_causes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/planting.h"

namespace utlz {
namespace {

using Chosen = std::function<bool(const RecordedKernel&)>;

// Recorded kernels like that, most recorded time first.
std::vector<uint32_t> Choose(const Draft& draft, size_t most, const Chosen& chosen) {
  std::vector<uint32_t> kernels;
  for (uint32_t i = 0; i < draft.run.kernels.size(); ++i) {
    if (draft.run.kernels[i].time_ns > 0 && chosen(draft.run.kernels[i])) kernels.push_back(i);
  }
  std::stable_sort(kernels.begin(), kernels.end(), [&draft](uint32_t left, uint32_t right) {
    return draft.run.kernels[left].time_ns > draft.run.kernels[right].time_ns;
  });
  if (kernels.size() > most) kernels.resize(most);
  return kernels;
}

// New variants of them, of one block more, at that share of their roofs.
std::vector<uint32_t> AtShareOfRoof(const std::vector<uint32_t>& kernels, double roof_share,
                                    Draft* draft) {
  std::vector<uint32_t> slow;
  for (const uint32_t index : kernels) {
    RecordedKernel kernel = draft->run.kernels[index];
    const double roof_ns = IsMatrix(kernel) ? kernel.RoofNs() : kernel.memory_time_ns;
    Retime(draft->run, roof_ns / roof_share, &kernel);
    kernel.grid[0] += 1;
    draft->run.kernels.push_back(std::move(kernel));
    slow.push_back(static_cast<uint32_t>(draft->run.kernels.size() - 1));
  }
  return slow;
}

// For how long kernels have to run beside the step, each launch with its turnaround, for
// `lost_part` of their time, and `present_ns`, to be `share` of the whole.
double AddedNs(double share, double lost_part, double present_ns,
               const std::vector<uint32_t>& kernels, const Draft& draft, const Step& step) {
  double sum_ns = 0;
  for (const uint32_t kernel : kernels) sum_ns += draft.run.kernels[kernel].time_ns;
  if (sum_ns <= 0) return 0;
  const double with_turnarounds =
      1 + draft.turnaround_ns * static_cast<double>(kernels.size()) / sum_ns;
  return (share * StepNs(draft, step) - present_ns) / (lost_part - share * with_turnarounds);
}

// Launches of `kernels` in turns, of `time_ns` together; all are cut or stretched alike, work and
// time, so that the sum is met.
Step LaunchesOf(const std::vector<uint32_t>& kernels, const Draft& draft, double time_ns) {
  Step items;
  double sum_ns = 0;
  for (size_t i = 0; sum_ns < time_ns && !kernels.empty(); ++i) {
    const uint32_t kernel = kernels[i % kernels.size()];
    items.push_back({.kernel = kernel, .time_ns = draft.run.kernels[kernel].time_ns});
    sum_ns += items.back().time_ns;
  }
  for (Item& item : items) {
    item.time_ns *= time_ns / sum_ns;
    item.work_share = time_ns / sum_ns;
  }
  return items;
}

void InsertOneByOne(const Step& items, Step* step) {
  const size_t length = step->size();
  for (size_t i = items.size(); i > 0; --i) {
    const auto at = static_cast<std::ptrdiff_t>(i * length / (items.size() + 1));
    step->insert(step->begin() + at, items[i - 1]);
  }
}

// Kernels at `roof_share` of their roof whose time beyond a good kernel's is the loss.
void PlantSlowKernels(double share, const Chosen& chosen, double roof_share, Draft* draft) {
  if (share <= 0) return;
  const std::vector<uint32_t> slow = AtShareOfRoof(Choose(*draft, 3, chosen), roof_share, draft);
  EachStep(share, draft, [&](double, Step* step) {
    const double lost_part = 1 - roof_share / kGoodOther;
    const double time_ns = AddedNs(share, lost_part, 0, slow, *draft, *step);
    InsertOneByOne(LaunchesOf(slow, *draft, time_ns), step);
  });
}

bool FillsTheGpu(const RecordedKernel& kernel, const Draft& draft) {
  return kernel.Blocks() >= draft.run.device.multiprocessors();
}

}  // namespace

void PlantSlowNormalization(double share, Draft* draft) {
  constexpr double kFarFromRoof = 0.20;
  PlantSlowKernels(
      share,
      [draft](const RecordedKernel& kernel) {
        return IsNormalization(kernel) && FillsTheGpu(kernel, *draft) && kernel.memory_time_ns > 0;
      },
      kFarFromRoof, draft);
}

void PlantSlowPooling(double share, Draft* draft) {
  constexpr double kFarFromRoof = 0.15;
  PlantSlowKernels(
      share, [](const RecordedKernel& kernel) { return kernel.Is("pool"); }, kFarFromRoof, draft);
}

void PlantLatency(double share, Draft* draft) {
  constexpr double kFarFromRoof = 0.09;
  PlantSlowKernels(
      share,
      [draft](const RecordedKernel& kernel) {
        return !IsMatrix(kernel) && !IsNormalization(kernel) && FillsTheGpu(kernel, *draft) &&
               kernel.memory_time_ns > 0 && kernel.time_ns < 20'000;
      },
      kFarFromRoof, draft);
}

void PlantSlowMatrix(double share, Draft* draft) {
  if (share <= 0) return;
  std::map<uint32_t, double> time_ns;
  for (const Item& item : draft->FirstStep()) {
    const RecordedKernel& kernel = draft->run.kernels[item.kernel];
    if (IsMatrix(kernel) && !IsAttention(kernel)) time_ns[item.kernel] += item.time_ns;
  }
  std::vector<std::pair<double, uint32_t>> order;
  for (const auto& [kernel, sum_ns] : time_ns) order.emplace_back(-sum_ns, kernel);
  std::sort(order.begin(), order.end());
  if (order.size() > 4) order.resize(4);
  double whole_ns = 0;
  for (const auto& [less_ns, kernel] : order) whole_ns -= less_ns;
  const double lost_ns = LostNs(share, StepNs(*draft, draft->FirstStep()));
  for (std::vector<Step>& steps : draft->ranks) {
    for (Item& item : steps.front()) {
      const bool slow = std::any_of(order.begin(), order.end(),
                                    [&item](const auto& one) { return one.second == item.kernel; });
      if (slow) item.time_ns *= 1 + lost_ns / whole_ns;
    }
    std::fill(steps.begin() + 1, steps.end(), steps.front());
  }
}

void PlantSmallGrids(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr uint32_t kBlocks = 24;
  std::vector<uint32_t> small;
  for (const uint32_t index : Choose(*draft, 200, IsMatrix)) {
    RecordedKernel kernel = draft->run.kernels[index];
    if (small.size() == 3 || IsAttention(kernel) || kernel.time_ns > 40'000) continue;
    const double cut = kBlocks / kernel.Blocks();
    kernel.grid = {kBlocks, 1, 1};
    kernel.compute_time_ns *= cut;
    kernel.memory_time_ns *= cut;
    kernel.sm_active_share = 1.0 * kBlocks / draft->run.device.multiprocessors();
    kernel.work = kernel.work.Scaled(cut);
    Retime(draft->run, kernel.time_ns, &kernel);
    draft->run.kernels.push_back(std::move(kernel));
    small.push_back(static_cast<uint32_t>(draft->run.kernels.size() - 1));
  }
  EachStep(share, draft, [&](double, Step* step) {
    const double time_ns = AddedNs(share, 1, 0, small, *draft, *step);
    InsertOneByOne(LaunchesOf(small, *draft, time_ns), step);
  });
}

void PlantElementwise(double share, Draft* draft) {
  if (share <= 0) return;
  const std::vector<uint32_t> kernels = Choose(*draft, 4, [](const RecordedKernel& kernel) {
    return kernel.Is("elementwise_kernel") && kernel.memory_time_ns > 0.5 * kernel.time_ns &&
           kernel.time_ns < 300'000;
  });
  const std::vector<uint32_t> good = AtShareOfRoof(kernels, kGoodOther, draft);
  EachStep(share, draft, [&](double, Step* step) {
    double present_ns = 0;
    for (const Item& item : *step) {
      if (IsElementwise(draft->run.kernels[item.kernel])) present_ns += item.time_ns;
    }
    const double time_ns = AddedNs(share, 1, present_ns, good, *draft, *step);
    InsertOneByOne(LaunchesOf(good, *draft, time_ns), step);
  });
}

void PlantPaddedTiles(double share, Draft* draft) {
  if (share <= 0 || draft->recordings.decoder == nullptr) return;
  std::vector<uint32_t> narrow;
  for (const RecordedKernel& kernel : draft->recordings.decoder->kernels) {
    if (!kernel.Is("64x8_") || kernel.memory_time_ns < 0.25 * kernel.time_ns) continue;
    draft->run.kernels.push_back(kernel);
    narrow.push_back(static_cast<uint32_t>(draft->run.kernels.size() - 1));
  }
  narrow = AtShareOfRoof(narrow, kGoodOther, draft);
  EachStep(share, draft, [&](double, Step* step) {
    const double time_ns = AddedNs(share, 1, 0, narrow, *draft, *step);
    InsertOneByOne(LaunchesOf(narrow, *draft, time_ns), step);
  });
}

void PlantPadding(double share, Draft* draft) {
  if (share <= 0) return;
  const auto is_matrix = [draft](const Item& item) {
    return IsMatrix(draft->run.kernels[item.kernel]);
  };
  double matrix_ns = 0;
  double needed_ns = 0;
  for (const Item& item : draft->FirstStep()) {
    if (!is_matrix(item)) continue;
    matrix_ns += item.time_ns;
    needed_ns += draft->run.kernels[item.kernel].compute_time_ns;
  }
  const double factor = 1 + LostNs(share, StepNs(*draft, draft->FirstStep())) / matrix_ns;
  EachStep(share, draft, [&](double, Step* step) {
    for (Item& item : *step) {
      if (!is_matrix(item)) continue;
      item.time_ns *= factor;
      item.work_share *= factor;
    }
  });
  for (const DevicePeaks::Pipe& pipe : draft->run.peaks.pipe()) {
    if (pipe.data_type() != "bf16") continue;
    draft->run.workload_spec.set_flops_per_step(needed_ns * 1e-9 * pipe.flops_per_cycle() *
                                                draft->run.peaks.sm_clock_maximum_hz());
    // Padded tokens show only where someone counts tokens at all.
    constexpr double kTokensPerStep = 8192;
    draft->run.workload_spec.set_tokens_per_step(kTokensPerStep);
  }
}

void PlantHeat(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr uint64_t kHardwareThermalSlowdown = 1 << 6;
  double kernel_ns = 0;
  for (const Item& item : draft->FirstStep()) kernel_ns += item.time_ns;
  const double lost_ns = LostNs(share, StepNs(*draft, draft->FirstStep()));
  for (PlannedRank& rank : draft->run.ranks) {
    rank.clock_share = kernel_ns / (kernel_ns + lost_ns);
    rank.clock_limit_reasons = kHardwareThermalSlowdown;
  }
  for (std::vector<Step>& steps : draft->ranks) {
    for (Step& step : steps) Stretch(1 + lost_ns / kernel_ns, &step);
  }
}

void PlantOneSlowKernel(double share, Draft* draft) {
  EachStep(share, draft, [draft](double lost_ns, Step* step) {
    const auto slow = [draft](const Item& item) {
      return draft->run.kernels[item.kernel].Is("bprop");
    };
    const auto launches = static_cast<double>(std::count_if(step->begin(), step->end(), slow));
    for (Item& item : *step) {
      if (slow(item)) item.time_ns += lost_ns / launches;
    }
  });
}

void PlantSlowLoop(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) { step->front().time_ns += lost_ns; });
}

}  // namespace utlz
