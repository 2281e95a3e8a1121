#include "bench/diagnosis/drafts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "bench/diagnosis/everyday_drafts.h"
#include "bench/diagnosis/program_drafts.h"
#include "bench/diagnosis/sharded_drafts.h"

namespace utlz {
namespace {

// Kernels that take less are left out: fused into others, in a load that is healthy.
constexpr double kShortestNs = 4'000;

bool IsAny(const RecordedKernel& kernel, std::initializer_list<std::string_view> fragments) {
  return std::any_of(fragments.begin(), fragments.end(),
                     [&kernel](std::string_view fragment) { return kernel.Is(fragment); });
}

double GoodShare(const RecordedKernel& kernel) {
  if (IsAttention(kernel)) return kGoodAttention;
  return kernel.Is("nvjet") ? kGoodMatrix : kGoodConvolution;
}

double GoodNs(const RecordedKernel& kernel) {
  const double memory_ns = kernel.memory_time_ns / kGoodOther;
  return IsMatrix(kernel) ? std::max(memory_ns, kernel.compute_time_ns / GoodShare(kernel))
                          : memory_ns;
}

PlannedRun EmptyRun(const RecordedLoad& load) {
  PlannedRun run;
  run.device = load.device;
  run.peaks = load.peaks;
  run.kernels = load.kernels;
  run.ranks.resize(1);
  return run;
}

// Shares of the matrix kernels' time that other kernels may take, and elementwise ones of them.
struct Mixture {
  double other = 0;
  double elementwise = 0;
};

// In recorded order, each kernel as good as it can be, with as many of the others as the mixture
// allows: what a compiler that fuses leaves.
Step GoodStep(const RecordedLoad& load, const Mixture& mixture, PlannedRun* run) {
  for (RecordedKernel& kernel : run->kernels) {
    const double good_ns = GoodNs(kernel);
    if (good_ns > 0) Retime(*run, good_ns, &kernel);
  }
  Step step;
  double matrix_ns = 0;
  double other_ns = 0;
  double elementwise_ns = 0;
  for (const uint32_t index : load.step) {
    const RecordedKernel& kernel = run->kernels[index];
    const double time_ns = kernel.time_ns;
    if (time_ns < kShortestNs || kernel.RoofNs() < 0.5 * time_ns) continue;
    if (IsMatrix(kernel)) {
      matrix_ns += time_ns;
    } else {
      if (kernel.Blocks() < run->device.multiprocessors()) continue;
      if (other_ns + time_ns > mixture.other * matrix_ns) continue;
      const bool elementwise = IsElementwise(kernel);
      if (elementwise && elementwise_ns + time_ns > mixture.elementwise * matrix_ns) continue;
      other_ns += time_ns;
      elementwise_ns += elementwise ? time_ns : 0;
    }
    step.push_back({.kernel = index, .time_ns = time_ns});
  }
  return step;
}

// The same work on `factor` times as many blocks, in as many times the time.
RecordedKernel Widened(RecordedKernel kernel, uint32_t factor) {
  kernel.grid[1] *= factor;
  kernel.time_ns *= factor;
  kernel.compute_time_ns *= factor;
  kernel.memory_time_ns *= factor;
  kernel.work = kernel.work.Scaled(factor);
  return kernel;
}

Draft Repeated(PlannedRun run, const Step& step, size_t steps) {
  Draft draft;
  draft.run = std::move(run);
  draft.ranks.assign(1, std::vector<Step>(steps, step));
  return draft;
}

Draft Training(const RecordedLoad& load, size_t steps) {
  PlannedRun run = EmptyRun(load);
  const Step step = GoodStep(load, {.other = 0.10, .elementwise = 0.04}, &run);
  return Repeated(std::move(run), step, steps);
}

// The training, but that each of its kernels is launched with three sizes of work that differ in
// neither name nor shape: as batch norm is, over the layers of a network.
Draft Mixed(const RecordedLoad& load, size_t steps) {
  constexpr std::array<double, 3> kSizes = {0.3, 1, 4};
  Draft draft = Training(load, steps);
  Step mixed;
  for (const Item& item : draft.FirstStep()) {
    for (const double size : kSizes) {
      mixed.push_back(item);
      mixed.back().time_ns *= size;
      mixed.back().work_share *= size;
    }
  }
  draft.ranks.assign(1, std::vector<Step>(steps, mixed));
  return draft;
}

uint32_t AddKernel(RecordedKernel kernel, PlannedRun* run) {
  run->kernels.push_back(std::move(kernel));
  return static_cast<uint32_t>(run->kernels.size() - 1);
}

// NCCL's name for it; no recording of one GPU holds it.
RecordedKernel AllReduce(const PlannedRun& run) {
  RecordedKernel kernel;
  kernel.name = "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE";
  kernel.short_name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
  kernel.grid = {24, 1, 1};
  kernel.block = {544, 1, 1};
  kernel.registers = 96;
  kernel.sm_active_share = 24.0 / run.device.multiprocessors();
  kernel.work.dram_read_bytes = kernel.work.dram_write_bytes = 8e6;
  return kernel;
}

// Gradients are summed up beside the backward pass.
Draft Ranks(const RecordedLoad& load, size_t ranks) {
  constexpr std::array<double, 3> kPlaces = {0.45, 0.6, 0.75};
  constexpr double kCollectiveNs = 300'000;
  Draft draft = Training(load, 120);
  const uint32_t kernel = AddKernel(AllReduce(draft.run), &draft.run);
  Step step = draft.FirstStep();
  for (const double place : kPlaces) {
    const auto at = static_cast<std::ptrdiff_t>(place * static_cast<double>(step.size()));
    step.insert(step.begin() + at,
                {.kind = Item::Kind::kBeside, .kernel = kernel, .time_ns = kCollectiveNs});
  }
  draft.run.ranks.resize(ranks);
  draft.ranks.assign(ranks, std::vector<Step>(120, step));
  return draft;
}

// Sequences of eleven lengths, so that attention has as many shapes. A new one comes every eighth
// step at first; then all of them take turns.
constexpr uint32_t kShapes = 11;
constexpr size_t kNewShapeEvery = 8;

uint32_t ShapeOf(size_t step) {
  const size_t known = std::min<size_t>(kShapes, 1 + step / kNewShapeEvery);
  if (step % kNewShapeEvery == 0 && step / kNewShapeEvery < kShapes) {
    return static_cast<uint32_t>(known - 1);
  }
  return static_cast<uint32_t>(step * 7 % known);
}

Draft NewShapes(const RecordedLoad& load) {
  Draft draft = Training(load, 180);
  std::vector<std::vector<uint32_t>> shapes(draft.run.kernels.size());
  for (const Item& item : draft.FirstStep()) {
    if (!IsAttention(draft.run.kernels[item.kernel]) || !shapes[item.kernel].empty()) continue;
    for (uint32_t shape = 0; shape < kShapes; ++shape) {
      RecordedKernel kernel = draft.run.kernels[item.kernel];
      kernel.grid[0] += 2 * shape;
      shapes[item.kernel].push_back(AddKernel(std::move(kernel), &draft.run));
    }
  }
  for (size_t step = 0; step < draft.ranks[0].size(); ++step) {
    for (Item& item : draft.ranks[0][step]) {
      if (item.kernel < shapes.size() && !shapes[item.kernel].empty()) {
        item.kernel = shapes[item.kernel][ShapeOf(step)];
      }
    }
  }
  return draft;
}

// Kernels that only convert and sum up, each over more data than it was recorded with.
Draft Streaming(const RecordedLoad& load, std::initializer_list<uint32_t> factors, size_t steps) {
  PlannedRun run = EmptyRun(load);
  Step step;
  uint32_t place = 0;
  for (const uint32_t factor : factors) {
    const std::string_view name = place++ % 2 == 0 ? "convert_dq_to_16bits" : "compute_dot_do_o";
    for (uint32_t i = 0; i < load.kernels.size(); ++i) {
      if (!load.kernels[i].Is(name)) continue;
      RecordedKernel kernel = Widened(load.kernels[i], factor);
      Retime(run, kernel.memory_time_ns / kGoodStreaming, &kernel);
      const double time_ns = kernel.time_ns;
      step.push_back({.kernel = AddKernel(std::move(kernel), &run), .time_ns = time_ns});
      break;
    }
  }
  return Repeated(std::move(run), step, steps);
}

// A decoder four times as wide as the recorded one, with what is small fused away.
Step Token(const RecordedLoad& load, PlannedRun* run) {
  constexpr uint32_t kWider = 4;
  constexpr double kSmallShare = 0.04;
  std::vector<std::optional<uint32_t>> wide(load.kernels.size());
  Step step;
  double matrix_ns = 0;
  double small_ns = 0;
  for (const uint32_t index : load.step) {
    const RecordedKernel& recorded = load.kernels[index];
    const bool weights = IsMatrix(recorded) && recorded.memory_time_ns > 0.25 * recorded.time_ns;
    if (weights && !wide[index].has_value()) {
      RecordedKernel kernel = Widened(recorded, kWider);
      Retime(*run, kernel.memory_time_ns / kGoodOther, &kernel);
      wide[index] = AddKernel(std::move(kernel), run);
    }
    const double time_ns = weights ? run->kernels[*wide[index]].time_ns : recorded.time_ns;
    if (!weights && small_ns + time_ns > kSmallShare * matrix_ns) continue;
    (weights ? matrix_ns : small_ns) += time_ns;
    step.push_back({.kernel = weights ? *wide[index] : index, .time_ns = time_ns});
  }
  return step;
}

Draft Decode(const RecordedLoad& load) {
  PlannedRun run = EmptyRun(load);
  run.graphs = true;
  const Step token = Token(load, &run);
  Draft draft = Repeated(std::move(run), token, 900);
  draft.turnaround_ns = 700;
  return draft;
}

constexpr size_t kTokensPerCall = 64;
constexpr size_t kCalls = 14;

// What reads the cache takes longer from token to token.
Step WithCache(Step token, size_t tokens, const PlannedRun& run) {
  for (Item& item : token) {
    if (!IsAttention(run.kernels[item.kernel])) continue;
    const double growth = 1 + static_cast<double>(tokens) / kTokensPerCall;
    item.time_ns *= growth;
    item.work_share *= growth;
  }
  return token;
}

// The prompt's pass: the same products over more rows.
Step Prefill(const Step& token, PlannedRun* run) {
  constexpr uint32_t kRows = 3;
  Step prefill = token;
  std::vector<std::optional<uint32_t>> wide(run->kernels.size());
  for (Item& item : prefill) {
    const RecordedKernel kernel = run->kernels[item.kernel];
    if (!IsMatrix(kernel)) continue;
    if (!wide[item.kernel].has_value()) wide[item.kernel] = AddKernel(Widened(kernel, kRows), run);
    item.kernel = *wide[item.kernel];
    item.time_ns *= kRows;
  }
  return prefill;
}

Draft Generation(const RecordedLoad& load) {
  Draft draft;
  draft.run = EmptyRun(load);
  const Step token = Token(load, &draft.run);
  const Step prefill = Prefill(token, &draft.run);
  draft.ranks.resize(1);
  for (size_t call = 0; call < kCalls; ++call) {
    draft.ranks[0].push_back(prefill);
    for (size_t i = 1; i < kTokensPerCall; ++i) {
      draft.ranks[0].push_back(WithCache(token, i, draft.run));
    }
  }
  draft.steps_per_call = kTokensPerCall;
  return draft;
}

std::optional<Draft> DraftOf(std::string_view name, const Recordings& recordings) {
  if (name == "convolutions") {
    if (recordings.convolutions == nullptr) return std::nullopt;
    PlannedRun run = EmptyRun(*recordings.convolutions);
    const Step step =
        GoodStep(*recordings.convolutions, {.other = 0.40, .elementwise = 0.08}, &run);
    return Repeated(std::move(run), step, 150);
  }
  if (name == "decode" || name == "generation") {
    if (recordings.decoder == nullptr) return std::nullopt;
    return name == "decode" ? Decode(*recordings.decoder) : Generation(*recordings.decoder);
  }
  if (recordings.transformer == nullptr) return std::nullopt;
  const RecordedLoad& load = *recordings.transformer;
  if (name == "training") return Training(load, 180);
  if (name == "short") return Training(load, 12);
  if (name == "mixed") return Mixed(load, 80);
  if (name == "two_ranks") return Ranks(load, 2);
  if (name == "four_ranks") return Ranks(load, 4);
  if (name == "new_shapes") return NewShapes(load);
  if (name == "streaming") return Streaming(load, {10, 12, 20, 24}, 3000);
  if (name == "loop") return Streaming(load, {40}, 6000);
  return std::nullopt;
}

}  // namespace

bool IsAttention(const RecordedKernel& kernel) { return IsAny(kernel, {"sdpa", "flash", "fmha"}); }

bool IsMatrix(const RecordedKernel& kernel) {
  return IsAttention(kernel) || IsAny(kernel, {"nvjet", "xmma", "cutlass", "mplicitGemm"});
}

bool IsElementwise(const RecordedKernel& kernel) {
  return IsAny(kernel, {"elementwise", "multi_tensor_apply", "reduce_kernel", "SoftMax", "softmax",
                        "layer_norm", "LayerNorm", "CatArray", "copy_kernel", "Fill"});
}

bool IsNormalization(const RecordedKernel& kernel) {
  return IsAny(kernel, {"layer_norm", "batch_norm"});
}

void Retime(const PlannedRun& run, double time_ns, RecordedKernel* kernel) {
  const double cycles =
      time_ns * 1e-9 * run.peaks.sm_clock_maximum_hz() * run.device.multiprocessors();
  kernel->time_ns = time_ns;
  kernel->work.sm_active_cycles = std::min(0.99, kernel->sm_active_share) * cycles;
  // What a pipe does in a cycle it cannot exceed, however short the kernel becomes.
  kernel->work.tensor_cycles = std::min(kernel->work.tensor_cycles, 0.98 * 4 * cycles);
  kernel->work.fma_instructions = std::min(kernel->work.fma_instructions, 0.4 * 4 * cycles);
}

Recordings Sorted(const std::vector<RecordedLoad>& loads) {
  Recordings recordings;
  const auto set = [](const RecordedLoad& load, const RecordedLoad** place) {
    if (*place == nullptr) *place = &load;
  };
  for (const RecordedLoad& load : loads) {
    if (load.Has("ArgMaxOps")) {
      set(load, &recordings.decoder);
    } else if (load.Has("batch_norm")) {
      set(load, &recordings.convolutions);
    } else if (load.Has("layer_norm") && load.Has("nvjet")) {
      set(load, &recordings.transformer);
    }
  }
  return recordings;
}

std::optional<Draft> HealthyDraft(std::string_view name, const Recordings& recordings) {
  std::optional<Draft> draft = DraftOf(name, recordings);
  if (!draft.has_value()) draft = EverydayDraft(name, recordings);
  if (!draft.has_value()) draft = ProgramDraft(name, recordings);
  if (!draft.has_value()) draft = ShardedDraft(name, recordings);
  if (draft.has_value()) draft->recordings = recordings;
  return draft;
}

}  // namespace utlz
