#include "bench/diagnosis/program_causes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/planting.h"
#include "bench/diagnosis/sharded_drafts.h"
#include "bench/diagnosis/step_parts.h"

namespace utlz {
namespace {

// Means of all steps; most parts of a step stay as they were.
void SetMean(Draft* draft) {
  if (draft->levels.empty()) return;
  const std::vector<Step>& steps = draft->ranks.front();
  double sum_ns = 0;
  for (const Step& step : steps) sum_ns += StepNs(*draft, step);
  draft->levels.front().step_ns = sum_ns / static_cast<double>(steps.size());
}

constexpr double kSinglePrecisionNs = 400e3;

// A product of CUTLASS at 80 % of the FMA pipes' rate and a tenth of DRAM's.
uint32_t AddSinglePrecision(PlannedRun* run) {
  constexpr double kOfPipe = 0.8;
  constexpr double kOfMemory = 0.1;
  RecordedKernel kernel;
  kernel.name = "_ZN7cutlass7Kernel2I43cutlass_80_simt_sgemm_256x128_8x4_nt_align1EEvNT_6ParamsE";
  kernel.short_name = "cutlass_80_simt_sgemm_256x128_8x4_nt_align1";
  kernel.grid = {64, 33, 1};
  kernel.block = {256, 1, 1};
  kernel.registers = 202;
  kernel.shared_bytes = 49152;
  kernel.time_ns = kSinglePrecisionNs;
  kernel.sm_active_share = 0.98;
  const double cycles =
      1e-9 * kernel.time_ns * run->peaks.sm_clock_maximum_hz() * run->device.multiprocessors();
  kernel.work.sm_active_cycles = 0.98 * cycles;
  kernel.work.fma_instructions = kOfPipe * 4 * cycles;
  kernel.work.dram_read_bytes =
      kOfMemory * 1e-9 * kernel.time_ns * run->peaks.dram_bytes_per_second();
  run->kernels.push_back(std::move(kernel));
  return static_cast<uint32_t>(run->kernels.size() - 1);
}

}  // namespace

void PlantImageSaving(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) { step->push_back(Gap(lost_ns)); });
  SetMean(draft);
}

void PlantSinglePrecision(double share, Draft* draft) {
  if (share <= 0) return;
  // TF32 is 7.4 times as fast on the GPU that was recorded.
  constexpr double kLostPart = 0.86;
  const uint32_t kernel = AddSinglePrecision(&draft->run);
  EachStep(share, draft, [&](double, Step* step) {
    const double time_ns = share * StepNs(*draft, *step) / (kLostPart - share);
    const double launches = std::ceil(time_ns / kSinglePrecisionNs);
    const double each_ns = time_ns / launches;
    InsertEvenly(
        {{.kernel = kernel, .time_ns = each_ns, .work_share = each_ns / kSinglePrecisionNs}},
        static_cast<size_t>(launches), step);
  });
}

void PlantClippedGradients(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    const Step optimizer = Optimizer(*step);
    *step = WithoutOptimizer(*step);
    Append({Copy(COPY_DEVICE_TO_HOST, 2e3, 4), Gap(lost_ns)}, step);
    Append(optimizer, step);
  });
}

void PlantWeightAveraging(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr double kTinyNs = 2'500;
  constexpr double kLaunchNs = 6'000;
  const std::vector<RecordedKernel>& kernels = draft->run.kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(), [](const RecordedKernel& kernel) {
    return kernel.Is("elementwise_kernel") && kernel.memory_time_ns > 0.5 * kernel.time_ns;
  });
  if (found == kernels.end()) return;
  const Item tiny = {.kernel = static_cast<uint32_t>(found - kernels.begin()),
                     .time_ns = kTinyNs,
                     .work_share = kTinyNs / found->time_ns};
  EachStep(share, draft, [&](double lost_ns, Step* step) {
    const double each_ns = kTinyNs + draft->turnaround_ns + kLaunchNs;
    for (double sum_ns = 0; sum_ns < lost_ns; sum_ns += each_ns)
      Append({tiny, Gap(kLaunchNs)}, step);
  });
}

void PlantGrowingHostWork(double share, Draft* draft) {
  if (share <= 0) return;
  std::vector<Step>& steps = draft->ranks.front();
  steps.resize(800, steps.front());
  const double lost_ns = LostNs(share, StepNs(*draft, steps.front()));
  const auto last = static_cast<double>(steps.size() - 1);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].insert(steps[i].begin(), Gap(2 * lost_ns * static_cast<double>(i) / last));
  }
}

void PlantPipelineBubbles(double share, Draft* draft) {
  if (share <= 0) return;
  const uint32_t exchange = CommunicationKernel("SendRecv", draft->run);
  const double lost_ns = LostNs(share, StepNs(*draft, draft->FirstStep()));
  const auto wait = [exchange](double time_ns) -> Step {
    if (time_ns < 1) return {};
    return {{.kind = Item::Kind::kOverlapped, .kernel = exchange, .time_ns = time_ns},
            Gap(time_ns)};
  };
  for (size_t rank = 0; rank < draft->ranks.size(); ++rank) {
    const double place = static_cast<double>(rank) / static_cast<double>(kPipelineRanks - 1);
    for (Step& step : draft->ranks[rank]) {
      const Step optimizer = Optimizer(step);
      const Step batches = WithoutOptimizer(step);
      const auto backward = static_cast<size_t>(
          std::find_if(batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 3),
                       batches.end(),
                       [](const Item& item) { return item.kind == Item::Kind::kOverlapped; }) -
          batches.begin());
      step = wait(place / 3 * lost_ns);
      const auto middle = batches.begin() + static_cast<std::ptrdiff_t>(backward);
      Append(Step(batches.begin(), middle), &step);
      Append(wait((1 - place) * lost_ns), &step);
      Append(Step(middle, batches.end()), &step);
      Append(wait(2 * place / 3 * lost_ns), &step);
      Append(optimizer, &step);
    }
  }
}

void PlantLateGathers(double share, Draft* draft) {
  if (share <= 0) return;
  const uint32_t gather = CommunicationKernel("AllGather", draft->run);
  const auto gathers = [gather](const Item& item) {
    return item.kind == Item::Kind::kBeside && item.kernel == gather;
  };
  EachStep(share, draft, [&](double lost_ns, Step* step) {
    const auto count = std::count_if(step->begin(), step->end(), gathers);
    const double each_ns = lost_ns / static_cast<double>(count);
    Step late;
    for (Item item : *step) {
      if (gathers(item)) item.time_ns = each_ns;
      late.push_back(item);
      if (gathers(item)) late.push_back(Gap(each_ns));
    }
    *step = std::move(late);
  });
}

}  // namespace utlz
