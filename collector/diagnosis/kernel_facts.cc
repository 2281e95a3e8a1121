#include "collector/diagnosis/kernel_facts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/analysis/kind_of_program.h"
#include "collector/kernel_names/framework.h"
#include "collector/kernel_names/fused_operations.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/kernel_names/kernel_family.h"
#include "collector/kernel_names/kernel_name.h"
#include "collector/kernel_names/tile_rows.h"
#include "collector/run/workload_spec.h"
#include "collector/summary/flops_gap.h"

namespace utlz {
namespace {

// What good kernels reach of their roof: a loss is what lies beyond. Streaming kernels reach 85 to
// 92 % of DRAM bandwidth; the libraries' matrix products 75 to 85 % of the dense peak at the clock
// that was seen, convolutions and attention less.
constexpr double kGoodStreaming = 0.90;
constexpr double kGoodMatrixReading = 0.85;
constexpr double kGoodGemm = 0.80;
constexpr double kGoodConvolution = 0.70;
constexpr double kGoodAttention = 0.60;
// A grid is full if this share of the multiprocessors has a block.
constexpr double kFullGrid = 0.9;
// A product that reads weights reads so many times as much as it writes, and has no more rows. One
// of more rows may read them too, but its counters could be those of any input.
constexpr double kReadsOverWrites = 4;
constexpr double kMostRowsOfWeights = 16;
// A kernel that loses this share of what its kind loses gets a finding of its own.
constexpr double kMostOfItsKind = 0.6;
// Executed FLOPs agree with the model's if they exceed them by less than this share.
constexpr double kAgreeing = 0.02;

enum class Loss { kNormalization, kPooling, kMatrix, kStreaming, kLatency };
constexpr int kLosses = 5;

// A kernel in the steady part. The times of all of them sum to the time in which some kernel ran.
struct SteadyKernel {
  const Kernel* kernel = nullptr;
  KernelRow row;
  const Ceilings* ceilings = nullptr;
  uint32_t multiprocessors = 0;
  KernelFamily family = KernelFamily::kOther;
  Bound bound = BOUND_UNKNOWN;
};

// For each device: the time with kernels in the steady part ÷ the sum of the rows' times in it.
// Rows are scaled to the run, and kernels of several rows may overlap.
std::vector<double> SharesOfSteadyPart(const RunState& state, const Analysis& analysis) {
  std::vector<double> sum_ns(analysis.devices.size(), 0);
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    if (!kernel.communication) sum_ns[kernel.device] += row.steady_share * row.time_ns;
  }
  std::vector<double> shares(sum_ns.size(), 0);
  for (size_t i = 0; i < shares.size(); ++i) {
    const double compute_ns = analysis.devices[i].part.content.TimeNs(TimeCategory::kCompute);
    if (sum_ns[i] > 0) shares[i] = compute_ns / sum_ns[i];
  }
  return shares;
}

KernelRow Scaled(const KernelRow& row, double share) {
  KernelRow scaled = row;
  const auto scale = [share](std::optional<double>* time_ns) {
    if (time_ns->has_value()) **time_ns *= share;
  };
  scaled.time_ns *= share;
  scaled.launches *= share;
  scaled.roofline.time_ns *= share;
  scale(&scaled.roofline.compute_time_ns);
  scale(&scaled.roofline.memory_time_ns);
  scaled.roofline.other_compute_time_ns *= share;
  return scaled;
}

bool ReadsMore(const RooflineWork& roofline) {
  return roofline.memory_time_ns.value_or(0) > roofline.compute_time_ns.value_or(0);
}

// A matrix kernel without tensor work: its name says so, or its FP32 pipes are what holds it up.
bool IsSinglePrecision(const SteadyKernel& of) {
  if (!IsMatrixKernel(of.kernel->mangled_name)) return false;
  const bool single_only =
      std::all_of(of.row.work.flops.begin(), of.row.work.flops.end(),
                  [](const TypedFlops& flops) { return flops.data_type == "fp32"; });
  if (!single_only) return false;
  return IsSinglePrecisionMatrixKernel(of.kernel->mangled_name) || of.bound == BOUND_COMPUTE;
}

// At TF32's rate, as far as memory lets it.
bool AddSinglePrecision(const SteadyKernel& of, KernelFacts* facts) {
  if (!IsSinglePrecision(of)) return false;
  const auto single = of.ceilings->FlopsPerCycle("fp32");
  const auto tensor = of.ceilings->FlopsPerCycle("tf32");
  if (!single.has_value() || !tensor.has_value()) return false;
  const double time_ns = of.row.time_ns;
  const double faster_ns =
      std::max(time_ns * *single / *tensor, of.row.roofline.memory_time_ns.value_or(0));
  facts->single_precision_ns += time_ns;
  facts->single_precision_gain_ns += std::max(0.0, time_ns - faster_ns);
  return true;
}

// Launches that cannot fill the GPU, whatever they do: what a full one would save, at most.
bool AddSmallGrid(const SteadyKernel& of, KernelFacts* facts) {
  if (of.bound == BOUND_MEMORY || of.bound == BOUND_COMPUTE) return false;
  double blocks = 1;
  for (const uint32_t size : of.kernel->shape.grid) blocks *= size;
  // The entry for all kernels that did not fit has no grid.
  if (blocks < 1 || blocks >= kFullGrid * of.multiprocessors) return false;
  const double time_ns = of.row.time_ns;
  const double full_ns = time_ns * blocks / of.multiprocessors;
  facts->small_grid_ns += time_ns;
  facts->small_grid_gain_ns +=
      std::max(0.0, time_ns - std::max(full_ns, RooflineTimeNs(of.row.roofline).value_or(0)));
  return true;
}

double BytesOfType(std::string_view data_type) {
  if (data_type == "fp8" || data_type == "int8") return 1;
  if (data_type == "bf16" || data_type == "fp16") return 2;
  return data_type.substr(0, 4) == "fp64" ? 8 : 4;
}

// Rows of a product that reads its weights and little else: it multiplies and adds each element
// that it reads once for each row. FLOPs outside the tensor cores count where there are no others.
std::optional<double> RowsByIntensity(const KernelWork& work) {
  const bool tensor = std::any_of(work.flops.begin(), work.flops.end(),
                                  [](const TypedFlops& flops) { return !flops.by_pipe; });
  double flops_times_bytes = 0;
  for (const TypedFlops& flops : work.flops) {
    if (flops.by_pipe == tensor) continue;
    flops_times_bytes += flops.flops * BytesOfType(flops.data_type);
  }
  if (flops_times_bytes <= 0 || !(work.read_bytes->value > 0)) return std::nullopt;
  return flops_times_bytes / 2 / work.read_bytes->value;
}

// Whether what a product reads is weights: what goes in and out of it is little beside them only
// where it has few rows, or where the run generates tokens, a row for each of a few requests.
bool ReadsWeights(const SteadyKernel& of, bool generates) {
  const KernelWork& work = of.row.work;
  if (!work.read_bytes.has_value() || !work.write_bytes.has_value()) return false;
  if (work.read_bytes->value < kReadsOverWrites * work.write_bytes->value) return false;
  if (generates) return true;
  const std::optional<double> rows = RowsByIntensity(work);
  return rows.has_value() && *rows <= kMostRowsOfWeights;
}

// Products at the roof of DRAM. Where tiles have few rows, more rows would cost nothing.
void AddProductsAtDram(const SteadyKernel& of, KernelFacts* facts) {
  if (!IsMatrixFamily(of.family)) return;
  const int rows = RowsOfTile(of.kernel->mangled_name);
  const bool at_dram = of.bound == BOUND_MEMORY;
  if (at_dram && IsNarrowTile(rows)) {
    facts->narrow_ns += of.row.time_ns;
    facts->narrow_rows = std::max<double>(facts->narrow_rows, rows);
    return;
  }
  facts->wide_matrix_ns += of.row.time_ns;
  if (!at_dram) facts->matrix_compute_ns += of.row.time_ns;
  if (!at_dram || of.family != KernelFamily::kGemm) return;
  (ReadsWeights(of, facts->generates) ? facts->weights_ns : facts->activations_ns) +=
      of.row.time_ns;
}

double GoodShare(const SteadyKernel& of) {
  const bool reads = ReadsMore(of.row.roofline);
  if (!IsMatrixFamily(of.family)) return kGoodStreaming;
  if (of.family == KernelFamily::kAttention) return kGoodAttention;
  if (reads) return kGoodMatrixReading;
  return of.family == KernelFamily::kGemm ? kGoodGemm : kGoodConvolution;
}

Loss LossOf(const SteadyKernel& of) {
  if (of.family == KernelFamily::kNormalization) return Loss::kNormalization;
  if (of.family == KernelFamily::kPooling) return Loss::kPooling;
  if (IsMatrixFamily(of.family)) return Loss::kMatrix;
  return of.bound == BOUND_LATENCY ? Loss::kLatency : Loss::kStreaming;
}

void AddLoss(const SteadyKernel& of, double roofline_ns, double lost_ns, KernelLoss* loss) {
  loss->time_ns += of.row.time_ns;
  loss->lost_ns += lost_ns;
  if (lost_ns <= loss->worst_lost_ns) return;
  loss->worst_lost_ns = lost_ns;
  loss->worst = ShortenKernelName(DemangleKernelName(of.kernel->mangled_name));
  loss->worst_efficiency = roofline_ns / of.row.time_ns;
}

// A fused optimizer is one kernel for all parameters.
bool IsFusedOptimizer(const SteadyKernel& of) {
  return of.family == KernelFamily::kOptimizer &&
         of.kernel->mangled_name.find("Fused") != std::string::npos;
}

// Two kernels in one read and write half as much. Only what frameworks launch can be fused, not
// what a library launches for itself, and not what a compiler or a framework has fused.
void AddElementwise(const SteadyKernel& of, double left_ns, KernelFacts* facts) {
  if (!IsElementwiseKernel(of.kernel->mangled_name) || !ReadsMore(of.row.roofline) ||
      of.bound == BOUND_LATENCY || IsFusedOptimizer(of) ||
      !FusedOperationsOf(of.kernel->mangled_name).empty()) {
    return;
  }
  const double time_ns = of.row.time_ns;
  facts->elementwise_ns += time_ns;
  facts->elementwise_gain_ns += left_ns / 2;
  if (time_ns <= facts->longest_elementwise_ns) return;
  facts->longest_elementwise_ns = time_ns;
  facts->longest_elementwise = ShortenKernelName(DemangleKernelName(of.kernel->mangled_name));
}

using Losses = std::array<KernelLoss, kLosses>;

void AddKernel(const SteadyKernel& of, Losses* losses, KernelFacts* facts) {
  const std::optional<double> roof_ns = RooflineTimeNs(of.row.roofline);
  if (roof_ns.has_value()) facts->savings_ns += std::max(0.0, of.row.time_ns - *roof_ns);
  if (!FusedOperationsOf(of.kernel->mangled_name).empty()) facts->compiled_ns += of.row.time_ns;
  if (AddSinglePrecision(of, facts) || AddSmallGrid(of, facts)) return;
  AddProductsAtDram(of, facts);
  if (!roof_ns.has_value() || of.row.time_ns <= 0) return;
  const double lost_ns = std::max(0.0, of.row.time_ns - *roof_ns / GoodShare(of));
  AddLoss(of, *roof_ns, lost_ns, &(*losses)[static_cast<size_t>(LossOf(of))]);
  AddElementwise(of, of.row.time_ns - lost_ns, facts);
}

// Normalization and pooling are named by family, whichever of their kernels is worst.
void SeparateOneKernel(Losses* losses, KernelFacts* facts) {
  KernelLoss* most = nullptr;
  for (const Loss kind : {Loss::kMatrix, Loss::kStreaming, Loss::kLatency}) {
    KernelLoss& loss = (*losses)[static_cast<size_t>(kind)];
    if (loss.worst_lost_ns <= kMostOfItsKind * loss.lost_ns || loss.worst_efficiency >= 0.5) {
      continue;
    }
    if (most == nullptr || loss.worst_lost_ns > most->worst_lost_ns) most = &loss;
  }
  if (most == nullptr) return;
  facts->one_kernel = *most;
  facts->one_kernel.lost_ns = most->worst_lost_ns;
  most->lost_ns -= most->worst_lost_ns;
}

// Whether FLOPs beyond the model's may be of tokens that mean nothing: only who counts tokens can
// have padded them, and passes that do not train are counted as they are computed.
bool MayBePadding(const FlopsGap& gap, const WorkloadSpec& work) {
  if (gap.name() == kGapPadding) return true;
  return gap.name() == kGapMore && work.tokens_per_step() > 0 && !IsForwardOnly(work);
}

// Of the time of products that compute, what FLOPs beyond the model's take.
void AddPadding(const Summary& summary, const WorkloadSpec& work, KernelFacts* facts) {
  const EfficiencySummary& efficiency = summary.efficiency();
  if (!efficiency.has_executed_flops_per_step() || !efficiency.has_model_flops_per_step()) return;
  const double model_flops = efficiency.model_flops_per_step();
  double more = 0;
  for (const FlopsGap& gap : efficiency.gap()) {
    if (MayBePadding(gap, work)) more += gap.flops_per_step();
  }
  if (model_flops <= 0 || more < kAgreeing * model_flops) return;
  facts->padding_share = more / model_flops;
  facts->padding_ns = facts->matrix_compute_ns * more / efficiency.executed_flops_per_step();
}

// The one that kernels of the run are of; none where they are of two.
Framework FrameworkOfRun(const RunState& state, const Analysis& analysis) {
  Framework found = Framework::kUnknown;
  for (const KernelRow& row : analysis.rows) {
    const Framework one = FrameworkOf(state.kernels[row.kernel].mangled_name);
    if (one == Framework::kUnknown || one == found) continue;
    if (found != Framework::kUnknown) return Framework::kUnknown;
    found = one;
  }
  return found;
}

uint32_t MultiprocessorsOf(const DeviceState& device) {
  return device.info.multiprocessors() > 0 ? device.info.multiprocessors()
                                           : device.peaks.value_or(DevicePeaks()).multiprocessors();
}

}  // namespace

KernelFacts GatherKernels(const RunState& state, const Analysis& analysis, const Summary& summary) {
  KernelFacts facts;
  facts.learns = Learns(state, analysis);
  facts.generates = !facts.learns && GeneratesTokens(summary.steps());
  Losses losses;
  const std::vector<double> shares = SharesOfSteadyPart(state, analysis);
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    if (kernel.communication) continue;
    SteadyKernel of;
    of.kernel = &kernel;
    of.row = Scaled(row, row.steady_share * shares[kernel.device]);
    of.ceilings = &analysis.devices[kernel.device].ceilings;
    of.multiprocessors = MultiprocessorsOf(state.devices[kernel.device]);
    of.family = FamilyOf(kernel.mangled_name);
    of.bound = BoundOf(of.row.roofline);
    AddKernel(of, &losses, &facts);
  }
  SeparateOneKernel(&losses, &facts);
  facts.normalization = losses[static_cast<size_t>(Loss::kNormalization)];
  facts.pooling = losses[static_cast<size_t>(Loss::kPooling)];
  facts.matrix = losses[static_cast<size_t>(Loss::kMatrix)];
  facts.streaming = losses[static_cast<size_t>(Loss::kStreaming)];
  facts.latency = losses[static_cast<size_t>(Loss::kLatency)];
  AddPadding(summary, state.work, &facts);
  facts.framework = FrameworkOfRun(state, analysis);
  return facts;
}

}  // namespace utlz
