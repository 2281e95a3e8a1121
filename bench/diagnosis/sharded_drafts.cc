#include "bench/diagnosis/sharded_drafts.h"

#include <string>
#include <utility>

#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/planting.h"
#include "bench/diagnosis/step_parts.h"

namespace utlz {
namespace {

constexpr size_t kMicroBatches = 8;

// As NCCL names it; no recording of one GPU holds it.
uint32_t AddCommunication(const std::string& short_name, double bytes, PlannedRun* run) {
  RecordedKernel kernel;
  kernel.name =
      "_Z" + std::to_string(short_name.size()) + short_name + "24ncclDevKernelArgsStorageILm4096EE";
  kernel.short_name = short_name;
  kernel.grid = {24, 1, 1};
  kernel.block = {544, 1, 1};
  kernel.registers = 96;
  kernel.sm_active_share = 24.0 / run->device.multiprocessors();
  kernel.work.dram_read_bytes = kernel.work.dram_write_bytes = bytes;
  run->kernels.push_back(std::move(kernel));
  return static_cast<uint32_t>(run->kernels.size() - 1);
}

Item Beside(uint32_t kernel, double time_ns) {
  return {.kind = Item::Kind::kBeside, .kernel = kernel, .time_ns = time_ns};
}

// Between two ranks: the others do not wait for it.
Item Exchange(uint32_t kernel) {
  return {.kind = Item::Kind::kOverlapped, .kernel = kernel, .time_ns = 60e3};
}

Step WithoutBesides(const Step& step) {
  Step rest;
  for (const Item& item : step) {
    if (item.kind != Item::Kind::kBeside) rest.push_back(item);
  }
  return rest;
}

// Weights of the next layer are gathered behind this one's kernels, gradients scattered likewise.
std::optional<Draft> PrefetchedShards(const Recordings& recordings) {
  constexpr size_t kLayers = 12;
  std::optional<Draft> draft = HealthyDraft("two_ranks", recordings);
  if (!draft.has_value()) return draft;
  const uint32_t gather = AddCommunication("ncclDevKernel_AllGather_RING_LL", 8e6, &draft->run);
  const uint32_t scatter =
      AddCommunication("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", 8e6, &draft->run);
  const Step whole = WithoutBesides(draft->FirstStep());
  Step step;
  for (size_t layer = 0; layer < kLayers; ++layer) {
    step.push_back(Beside(gather, 150e3));
    Append(Part(Forward(whole), layer, kLayers), &step);
  }
  for (size_t layer = 0; layer < kLayers; ++layer) {
    step.push_back(Beside(gather, 150e3));
    Append(Part(Backward(whole), layer, kLayers), &step);
    if (layer + 1 < kLayers) step.push_back(Beside(scatter, 200e3));
  }
  Append(Optimizer(whole), &step);
  draft->ranks.assign(2, std::vector<Step>(300, step));
  return draft;
}

// Each rank has a quarter of the layers; micro-batches are handed on behind kernels. Schedules
// without bubbles exist.
std::optional<Draft> Pipeline(const Recordings& recordings) {
  std::optional<Draft> draft = HealthyDraft("four_ranks", recordings);
  if (!draft.has_value()) return draft;
  const uint32_t exchange = AddCommunication("ncclDevKernel_SendRecv", 4e6, &draft->run);
  const Step whole = WithoutBesides(draft->FirstStep());
  Step step;
  for (size_t batch = 0; batch < kMicroBatches; ++batch) {
    step.push_back(Exchange(exchange));
    Append(Part(Forward(whole), 1, 4), &step);
  }
  for (size_t batch = 0; batch < kMicroBatches; ++batch) {
    step.push_back(Exchange(exchange));
    Append(Part(Backward(whole), 1, 4), &step);
  }
  Append(Optimizer(whole), &step);
  draft->barrier_ns = 50e3;
  draft->ranks.assign(kPipelineRanks, std::vector<Step>(120, step));
  return draft;
}

Item PeerCopy(double time_ns) {
  constexpr double kLinkBytesPerNs = 200;
  return Copy(COPY_PEER_TO_PEER, time_ns, time_ns * kLinkBytesPerNs);
}

// Two GPUs of one process, each with half of the batch. The first one hands its weights over and
// adds the other's gradients up, beside kernels as far as that can be. It alone steps.
std::optional<Draft> DataParallel(const Recordings& recordings) {
  std::optional<Draft> draft = HealthyDraft("training", recordings);
  if (!draft.has_value()) return draft;
  const Step whole = draft->FirstStep();
  draft->run.one_process = true;
  draft->run.ranks.resize(2);
  const Step optimizer = Optimizer(whole);
  Step first = WithoutOptimizer(whole);
  Step second = first;
  Append(optimizer, &first);
  second.push_back(Gap(StepNs(*draft, optimizer)));
  draft->ranks = {std::vector<Step>(200, first), std::vector<Step>(200, second)};
  return draft;
}

}  // namespace

void PlantPeerCopies(double share, Draft* draft) {
  if (share <= 0) return;
  const double lost_ns = LostNs(share, StepNs(*draft, draft->FirstStep()));
  for (Step& step : draft->ranks[0]) {
    step.insert(step.begin(), PeerCopy(0.6 * lost_ns));
    const auto optimizer = step.end() - static_cast<std::ptrdiff_t>(Optimizer(step).size());
    step.insert(optimizer, PeerCopy(0.4 * lost_ns));
  }
  for (Step& step : draft->ranks[1]) {
    step.insert(step.begin(), Gap(0.6 * lost_ns));
    step.back().time_ns += 0.4 * lost_ns;
  }
}

std::optional<Draft> ShardedDraft(std::string_view name, const Recordings& recordings) {
  if (name == "prefetched_shards") return PrefetchedShards(recordings);
  if (name == "pipeline") return Pipeline(recordings);
  if (name == "data_parallel") return DataParallel(recordings);
  return std::nullopt;
}

const std::vector<const char*>& ShardedLoads() {
  static const auto* const kNames =
      new std::vector<const char*>{"prefetched_shards", "pipeline", "data_parallel"};
  return *kNames;
}

uint32_t CommunicationKernel(std::string_view kind, const PlannedRun& run) {
  const std::string name = "ncclDevKernel_" + std::string(kind);
  for (uint32_t i = 0; i < run.kernels.size(); ++i) {
    if (run.kernels[i].Is(name)) return i;
  }
  return 0;
}

}  // namespace utlz
