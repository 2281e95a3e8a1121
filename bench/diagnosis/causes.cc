#include "bench/diagnosis/causes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

#include "bench/diagnosis/everyday_drafts.h"

namespace utlz {
namespace {

constexpr double kPinnedBytesPerNs = 25;
constexpr double kPageableBytesPerNs = 12;
constexpr double kReadbackNs = 2'000;

// What a share of the planted load comes to, of what was there before.
double LostNs(double share, double healthy_ns) { return healthy_ns * share / (1 - share); }

Item Gap(double time_ns) { return {.kind = Item::Kind::kGap, .time_ns = time_ns}; }

Item Copy(CopyKind kind, double time_ns, double bytes, bool pageable = false) {
  return {.kind = Item::Kind::kCopy,
          .time_ns = time_ns,
          .copy = kind,
          .pageable = pageable,
          .bytes = static_cast<uint64_t>(bytes)};
}

// `change` is called with each step and the time that it has to lose.
void EachStep(double share, Draft* draft, const std::function<void(double, Step*)>& change) {
  if (share <= 0) return;
  for (std::vector<Step>& steps : draft->ranks) {
    for (Step& step : steps) change(LostNs(share, StepNs(*draft, step)), &step);
  }
}

// `items` at `places` points, evenly over the step's inside.
void InsertEvenly(const Step& items, size_t places, Step* step) {
  const size_t length = step->size();
  for (size_t i = places; i > 0; --i) {
    const auto at = static_cast<std::ptrdiff_t>(i * length / (places + 1));
    step->insert(step->begin() + at, items.begin(), items.end());
  }
}

size_t KernelsIn(const Step& step) {
  return static_cast<size_t>(std::count_if(
      step.begin(), step.end(), [](const Item& item) { return item.kind == Item::Kind::kKernel; }));
}

// Idle time between requests does not count: it has no launches.
double WorkingNs(const Draft& draft, const Step& step) {
  double idle_ns = 0;
  for (const Item& item : step) idle_ns += item.kind == Item::Kind::kGap ? item.time_ns : 0;
  return StepNs(draft, step) - idle_ns;
}

void PlantLaunchGaps(double share, Draft* draft) {
  EachStep(share, draft, [share, draft](double, Step* step) {
    const double lost_ns = LostNs(share, WorkingNs(*draft, *step));
    const double gap_ns = lost_ns / static_cast<double>(KernelsIn(*step));
    Step slower;
    for (const Item& item : *step) {
      slower.push_back(item);
      if (item.kind == Item::Kind::kKernel) slower.push_back(Gap(gap_ns));
    }
    *step = std::move(slower);
  });
  if (draft->usual_step_ns > 0) draft->usual_step_ns += LostNs(share, draft->usual_step_ns);
}

void PlantLateInput(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    constexpr double kBatchNs = 5'000;
    const Step late = {Gap(lost_ns),
                       Copy(COPY_HOST_TO_DEVICE, kBatchNs, kBatchNs * kPinnedBytesPerNs)};
    step->insert(step->begin(), late.begin(), late.end());
  });
}

void PlantReadbacks(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    constexpr size_t kReadbacks = 4;
    InsertEvenly({Copy(COPY_DEVICE_TO_HOST, kReadbackNs, 4), Gap(lost_ns / kReadbacks)}, kReadbacks,
                 step);
  });
}

void PlantPageableCopies(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    InsertEvenly({Copy(COPY_HOST_TO_DEVICE, lost_ns / 2, lost_ns / 2 * kPageableBytesPerNs, true)},
                 2, step);
  });
}

void PlantExposedCopies(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    InsertEvenly({Copy(COPY_HOST_TO_DEVICE, lost_ns / 3, lost_ns / 3 * kPinnedBytesPerNs)}, 3,
                 step);
  });
}

void PlantExposedCommunication(double share, Draft* draft) {
  draft->barrier_ns = LostNs(share, StepNs(*draft, draft->FirstStep()));
}

constexpr double kShortCollectiveNs = 50'000;

void Stretch(double factor, Step* step) {
  for (Item& item : *step) {
    if (item.kind == Item::Kind::kKernel) item.time_ns *= factor;
  }
}

// More of the same work.
void Enlarge(double factor, Step* step) {
  Stretch(factor, step);
  for (Item& item : *step) item.work_share *= factor;
}

void PlantStraggler(double share, Draft* draft) {
  if (share <= 0) return;
  draft->barrier_ns = kShortCollectiveNs;
  const double healthy_ns = StepNs(*draft, draft->FirstStep());
  for (Step& step : draft->ranks.back()) Stretch(1 + LostNs(share, healthy_ns) / healthy_ns, &step);
}

// By turns one rank's batch is longer than the mean and the other's shorter: each waits half of the
// time, and neither is always the last.
void PlantUnevenBatches(double share, Draft* draft) {
  if (share <= 0) return;
  draft->barrier_ns = kShortCollectiveNs;
  uint32_t mixed = 7;
  for (size_t i = 0; i < draft->ranks.front().size(); ++i) {
    mixed = mixed * 1664525u + 1013904223u;
    // The wait of a rank is half of twice the spread; its mean over steps is `share` of the time.
    const double spread = 2 * share / (1 - share) * ((mixed >> 8) / 16777216.0);
    const size_t longer = mixed >> 7 & 1;
    Enlarge(1 + spread, &draft->ranks[longer][i]);
    Enlarge(1 - spread, &draft->ranks[1 - longer][i]);
  }
}

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

// The four matrix kernels with most time in a step lose it alike; their work stays.
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

// Launches of two dozen blocks of what was recorded with enough of them: as long, with so much less
// work.
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

// Elementwise kernels near the roof, as many as make the whole step's share of them.
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

// Products of one row in tiles of eight, as a decoder has them: seven eighths of their FLOPs are
// padding, and a batch of eight would take no longer.
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

// Every product works on rows that hold nothing. The run says how many FLOPs the model needs.
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

void PlantLeak(double bytes, Draft* draft) { draft->run.ranks.front().memory_growth_bytes = bytes; }

// The first step of each new shape waits before its attention kernel, as for a plan that is made
// once; all of the waits together are `share` of the steps' time.
void PlantFirstCalls(double share, Draft* draft) {
  if (share <= 0) return;
  std::vector<Step>& steps = draft->ranks.front();
  double healthy_ns = 0;
  for (const Step& step : steps) healthy_ns += StepNs(*draft, step);
  std::map<uint32_t, size_t> first_steps;  // by attention kernel, the first one in its step
  const auto attention = [draft](const Item& item) {
    return item.kind == Item::Kind::kKernel && IsAttention(draft->run.kernels[item.kernel]);
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto found = std::find_if(steps[i].begin(), steps[i].end(), attention);
    if (found != steps[i].end()) first_steps.try_emplace(found->kernel, i);
  }
  const double new_shapes = static_cast<double>(first_steps.size()) - 1;
  for (const auto& [kernel, step] : first_steps) {
    if (step == 0) continue;
    const auto at = std::find_if(steps[step].begin(), steps[step].end(), attention);
    steps[step].insert(at, Gap(LostNs(share, healthy_ns) / new_shapes));
  }
}

// One kernel, and only that, loses the time: attention's backward pass.
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

void PlantGapsBetweenSteps(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) { step->push_back(Gap(lost_ns)); });
}

void PlantGapsInside(double share, Draft* draft) {
  EachStep(share, draft,
           [](double lost_ns, Step* step) { InsertEvenly({Gap(lost_ns / 3)}, 3, step); });
}

// A loop of one kernel that streams, farther from the roof.
void PlantSlowLoop(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) { step->front().time_ns += lost_ns; });
}

// Each twentieth step waits for its data, all others find it there.
void PlantRareStalls(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr size_t kEvery = 20;
  for (std::vector<Step>& steps : draft->ranks) {
    const double lost_ns = kEvery * LostNs(share, StepNs(*draft, steps.front()));
    for (size_t i = kEvery; i < steps.size(); i += kEvery) {
      constexpr double kBatchNs = 5'000;
      const Step late = {Gap(lost_ns),
                         Copy(COPY_HOST_TO_DEVICE, kBatchNs, kBatchNs * kPinnedBytesPerNs)};
      steps[i].insert(steps[i].begin(), late.begin(), late.end());
    }
  }
}

// A checkpoint each fortieth step: weights go to the host, which then writes them.
void PlantCheckpoints(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr size_t kEvery = 40;
  for (std::vector<Step>& steps : draft->ranks) {
    const double lost_ns = kEvery * LostNs(share, StepNs(*draft, steps.front()));
    for (size_t i = kEvery - 1; i < steps.size(); i += kEvery) {
      const double copy_ns = 0.3 * lost_ns;
      steps[i].push_back(Copy(COPY_DEVICE_TO_HOST, copy_ns, copy_ns * kPageableBytesPerNs, true));
      steps[i].push_back(Gap(0.7 * lost_ns));
    }
  }
}

// Nothing but launches of 4 µs, each with its gap.
void PlantTinyKernels(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr double kTinyNs = 4'000;
  for (std::vector<Step>& steps : draft->ranks) {
    for (Step& step : steps) {
      for (Item& item : step) {
        item.work_share = kTinyNs / item.time_ns;
        item.time_ns = kTinyNs;
      }
    }
    steps.resize(1000, steps.front());
  }
  PlantLaunchGaps(share, draft);
}

constexpr const char* kOfTime = "of the steps' time";
constexpr const char* kRule = "docs/findings.md";
constexpr const char* kNew = "no rule yet: 15 % of the time";

}  // namespace

const std::vector<const char*>& HealthyLoads() {
  static const auto* const kLoads = [] {
    auto* loads = new std::vector<const char*>{
        "training",   "streaming",  "decode",     "convolutions", "short", "two_ranks",
        "four_ranks", "new_shapes", "generation", "loop",         "mixed"};
    loads->insert(loads->end(), EverydayLoads().begin(), EverydayLoads().end());
    return loads;
  }();
  return *kLoads;
}

const std::vector<Cause>& Causes() {
  static const auto* const kCauses = new std::vector<Cause>{
      {"launch_bound", "training", 0.15, kOfTime, kRule, PlantLaunchGaps},
      {"input_pipeline", "training", 0.05, kOfTime, kRule, PlantLateInput},
      {"synchronization", "training", 0.05, kOfTime, kRule, PlantReadbacks},
      {"pageable_copies", "training", 0.03, kOfTime, kRule, PlantPageableCopies},
      {"exposed_copies", "training", 0.05, kOfTime, kRule, PlantExposedCopies},
      {"exposed_communication", "two_ranks", 0.10, kOfTime, kRule, PlantExposedCommunication},
      {"lagging_rank", "two_ranks", 0.05, kOfTime, kRule, PlantStraggler},
      {"uneven_batches", "two_ranks", 0.10, kOfTime, "exposed_communication's", PlantUnevenBatches},
      {"slow_normalization", "training", 0.15, kOfTime, kNew, PlantSlowNormalization},
      {"slow_pooling", "convolutions", 0.15, kOfTime, kNew, PlantSlowPooling},
      {"slow_matrix", "training", 0.15, kOfTime, kNew, PlantSlowMatrix},
      {"small_batch", "training", 0.25, kOfTime, kRule, PlantSmallGrids},
      {"latency_bound_kernels", "training", 0.20, kOfTime, kRule, PlantLatency},
      {"padding", "training", 0.15, kOfTime, kNew, PlantPadding},
      {"padded_tiles", "training", 0.15, kOfTime, kNew, PlantPaddedTiles, true},
      {"unfused_elementwise", "training", 0.20, kOfTime, kRule, PlantElementwise},
      {"thermal_throttling", "training", 0.03, kOfTime, kRule, PlantHeat},
      {"memory_leak", "training", 300e6, "bytes", "0.2 % of the GPU's memory", PlantLeak},
      {"first_calls", "new_shapes", 0.15, kOfTime, kNew, PlantFirstCalls},
      {"one_slow_kernel", "training", 0.15, kOfTime, kRule, PlantOneSlowKernel},
      {"gaps_between_steps", "training", 0.10, kOfTime, "host_work's", PlantGapsBetweenSteps},
      {"host_work", "training", 0.10, kOfTime, kRule, PlantGapsInside},
      {"generation_launch_bound", "generation", 0.15, kOfTime, kRule, PlantLaunchGaps},
      {"rare_stalls", "training", 0.05, kOfTime, "input_pipeline's", PlantRareStalls},
      {"checkpoints", "training", 0.05, kOfTime, "exposed_copies'", PlantCheckpoints},
      {"tiny_kernels", "training", 0.15, kOfTime, "launch_bound's", PlantTinyKernels},
      {"lagging_of_four", "four_ranks", 0.05, kOfTime, "lagging_rank's", PlantStraggler},
      {"bursts_launch_bound", "bursts", 0.15, kOfTime, "launch_bound's", PlantLaunchGaps},
      {"two_networks_host_work", "two_networks", 0.10, kOfTime, "host_work's", PlantGapsInside},
      {"lengths_input", "lengths", 0.05, kOfTime, "input_pipeline's", PlantLateInput},
      {"accumulation_input", "accumulation", 0.05, kOfTime, "input_pipeline's", PlantLateInput},
      {"slow_loop", "loop", 0.15, kOfTime, "one_slow_kernel's", PlantSlowLoop},
  };
  return *kCauses;
}

}  // namespace utlz
