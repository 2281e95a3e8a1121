#include "collector/analysis/analyze.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "collector/analysis/flops_by_code.h"
#include "collector/analysis/kernel_launches.h"
#include "collector/analysis/steady_shares.h"
#include "collector/analysis/traced_slowdown.h"
#include "collector/analysis/withheld_work.h"
#include "collector/each_in_threads.h"
#include "collector/kernel_names/kernel_class.h"

namespace utlz {
namespace {

constexpr const char* kDefaultTensorType = "bf16";

// The type that most tensor cycles of the device belong to, by the names that tell.
std::string FallbackType(const RunState& state, const Attribution& attribution) {
  std::map<std::string, double> cycles_by_type;
  for (const auto& [index, parts] : attribution.parts_by_kernel) {
    const std::string_view type = TensorDataTypeOf(state.kernels[index].mangled_name);
    if (type.empty()) continue;
    for (const KernelPart& part : parts) {
      const auto& cycles = part.counters[METRIC_TENSOR_ACTIVE];
      if (!cycles.has_value()) continue;
      cycles_by_type[std::string(type)] += cycles->value * static_cast<double>(part.launches);
    }
  }
  const auto most =
      std::max_element(cycles_by_type.begin(), cycles_by_type.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == cycles_by_type.end() ? kDefaultTensorType : most->first;
}

// The launches between windows of each part of a kernel: as in steps, where these are even, else as
// in what was recorded.
std::vector<double> InGapsByPart(const std::vector<KernelPart>& parts,
                                 const std::vector<DurationHistogram>& recorded, double in_gaps,
                                 const EvenKernel* even) {
  if (parts.size() == 1) return {in_gaps};
  std::vector<double> expected, had;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto of_part = [&part = parts[i]](const DurationHistogram& all) {
      return static_cast<double>(all.Slice(part.minimum_ns, part.maximum_ns).count());
    };
    const auto launches = static_cast<double>(recorded[i].count());
    const double steps = even == nullptr ? 0 : even->RecordedSteps();
    expected.push_back(even == nullptr ? launches : steps * of_part(even->in_steps));
    had.push_back(even == nullptr ? 0 : launches - of_part(even->outside));
  }
  return FillUp(expected, had, in_gaps);
}

double MeanNs(const KernelSum& sum) { return sum.launches > 0 ? sum.time_ns / sum.launches : 0; }

// `durations`: of the part's recorded launches. `in_gaps`: its launches between windows.
KernelRow RowOf(const RunState& state, uint32_t index, const KernelPart& part,
                DurationHistogram durations, const KernelLaunches& whole, double in_gaps) {
  const Kernel& kernel = state.kernels[index];
  const auto count = static_cast<double>(kernel.durations.count());
  const double share = count > 0 ? static_cast<double>(durations.count()) / count : 1;
  const auto sum_ns = static_cast<double>(kernel.durations.sum_ns());
  const double time_share = sum_ns > 0 ? static_cast<double>(durations.sum_ns()) / sum_ns : share;
  // Beside gaps the kernel may last longer or shorter than on average.
  const double mean_ns =
      whole.in_gaps.launches > 0 ? MeanNs(whole.in_gaps) : MeanNs(whole.recorded);
  const double part_mean_ns = share > 0 ? mean_ns * time_share / share : mean_ns;
  KernelRow row;
  row.kernel = index;
  row.part = part;
  row.durations = std::move(durations);
  row.launches = whole.recorded.launches * share + in_gaps;
  row.own_share = state.devices[kernel.device].shared_time.OwnShare(index);
  row.time_ns = (whole.recorded.time_ns * time_share + in_gaps * part_mean_ns) * row.own_share;
  row.gap_error_ns = std::sqrt(whole.gap_variance_ns2) * time_share * row.own_share;
  row.roofline.communication = kernel.communication;
  return row;
}

void AddRows(const RunState& state, uint32_t index, const DeviceAnalysis& device, uint64_t now_ns,
             std::vector<KernelRow>* rows) {
  const Kernel& kernel = state.kernels[index];
  const KernelLaunches whole = LaunchesOf(state, kernel, now_ns);
  const auto even_kernel = device.even_steps.find(index);
  const EvenKernel* even = even_kernel == device.even_steps.end() ? nullptr : &even_kernel->second;
  const double in_gaps = even == nullptr ? whole.in_gaps.launches : even->launches_in_gaps;
  if (whole.recorded.launches + in_gaps <= 0) return;
  std::vector<KernelPart> parts(1);
  const auto found = device.attribution.parts_by_kernel.find(index);
  if (found != device.attribution.parts_by_kernel.end()) parts = found->second;
  std::vector<DurationHistogram> durations;
  for (const KernelPart& part : parts) {
    durations.push_back(parts.size() > 1 ? kernel.durations.Slice(part.minimum_ns, part.maximum_ns)
                                         : kernel.durations);
  }
  const std::vector<double> gaps = InGapsByPart(parts, durations, in_gaps, even);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts.size() > 1 && durations[i].count() == 0) continue;
    rows->push_back(RowOf(state, index, parts[i], durations[i], whole, gaps[i]));
    rows->back().scaled = in_gaps > 0;
  }
}

double OverlapShare(const DeviceState& device) {
  const uint64_t kernel_ns = device.sweep.TimeNs(kKernelMask);
  if (kernel_ns == 0) return 0;
  return std::min(1.0,
                  static_cast<double>(device.overlap.time_ns()) / static_cast<double>(kernel_ns));
}

// Nobody can tell whose work was counted while several processes' kernels ran.
void WithholdOverlapped(const RunState& state, Analysis* analysis) {
  for (KernelRow& row : analysis->rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    if (analysis->devices[kernel.device].overlap_share <= kMostOverlap) continue;
    const ProcessOverlap& overlap = state.devices[kernel.device].overlap;
    row.overlapped =
        std::any_of(kernel.shares.begin(), kernel.shares.end(), [&](const KernelShare& share) {
          return overlap.Holds(static_cast<uint16_t>(share.source));
        });
    if (row.overlapped) row.part.counters = {};
  }
}

double ShareOfKernel(const Kernel& kernel, const KernelRow& row) {
  if (row.durations.count() == 0) return 1;
  return static_cast<double>(row.durations.count()) / static_cast<double>(kernel.durations.count());
}

// Ranges hold whole kernels, whose launches may be of several parts.
struct Calibration {
  FlopPrior prior;
  SolvedFlops solved;
  std::map<uint32_t, int> parts;  // by kernel
};

KernelPrior PriorOfRow(const RunState& state, const Analysis& analysis, const KernelRow& row) {
  const Kernel& kernel = state.kernels[row.kernel];
  return PriorOf(kernel, row.work, analysis.devices[kernel.device].ceilings,
                 row.durations.mean_ns());
}

Calibration Calibrate(const RunState& state, const Analysis& analysis) {
  Calibration calibration;
  for (const KernelRow& row : analysis.rows) {
    ++calibration.parts[row.kernel];
    const double share = ShareOfKernel(state.kernels[row.kernel], row);
    const KernelPrior prior = PriorOfRow(state, analysis, row);
    KernelPrior& whole = calibration.prior[row.kernel];
    whole.warp_mma = prior.warp_mma;
    whole.instructions_known = prior.instructions_known;
    for (const auto& [data_type, of_part] : prior.by_type) {
      TypePrior& sum = whole.by_type[data_type];
      sum.per_launch += share * of_part.per_launch;
      sum.error += share * of_part.error;
      sum.assumed += share * of_part.assumed;
      sum.contradicted_error += share * of_part.contradicted_error;
    }
  }
  calibration.solved = SolveFlops(state.ranges.Mixes(), calibration.prior);
  return calibration;
}

// Parts of one kernel keep the proportions that were sampled.
KernelCalibration CalibrationOf(const RunState& state, const Analysis& analysis,
                                const Calibration& calibration, const KernelRow& row) {
  KernelCalibration of_row;
  of_row.warp_mma = calibration.solved.warp_mma.contains(row.kernel);
  const auto found = calibration.solved.by_kernel.find(row.kernel);
  if (found == calibration.solved.by_kernel.end()) return of_row;
  if (calibration.parts.at(row.kernel) == 1) {
    of_row.operations = found->second;
    return of_row;
  }
  const KernelPrior prior = PriorOfRow(state, analysis, row);
  for (const auto& [data_type, of_part] : prior.by_type) {
    const auto operations = found->second.find(data_type);
    const double before = calibration.prior.at(row.kernel).by_type.at(data_type).per_launch;
    if (operations == found->second.end() || before <= 0) continue;
    const double ratio = operations->second.per_launch / before;
    of_row.operations[data_type] = {ratio * of_part.per_launch, ratio * of_part.error,
                                    ratio * of_part.assumed};
  }
  return of_row;
}

void SetBounds(const RunState& state, unsigned threads, Analysis* analysis) {
  CodeAllowance allowance;
  std::vector<std::pair<KernelRow*, const KernelCode*>> bounded;
  for (KernelRow& row : analysis->rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    const KernelCode* code = state.kernel_code.Find(
        kernel.mangled_name, ComputeCapabilityOf(state.devices[kernel.device]));
    if (code == nullptr || !row.part.counters[METRIC_FMA_INSTRUCTIONS].has_value()) continue;
    if (allowance.Take(*code)) bounded.emplace_back(&row, code);
  }
  EachInThreads(bounded.size(), threads, [&](size_t i) {
    const auto& [row, code] = bounded[i];
    row->by_code = FlopsByCode(*code, state.kernels[row->kernel].shape, row->part);
  });
}

void SetWork(const RunState& state, const Analysis& analysis, const KernelCalibration& calibration,
             KernelRow* row) {
  if (row->overlapped) return;
  const Kernel& kernel = state.kernels[row->kernel];
  const DeviceAnalysis& device = analysis.devices[kernel.device];
  row->work = WorkOf(kernel, row->part, row->durations.mean_ns(), device.ceilings,
                     device.fallback_type, calibration, row->by_code);
}

// At rates that `flops_per_second` tells for each data type.
template <typename FlopsPerSecond>
RooflineWork RooflineAt(const Kernel& kernel, const KernelRow& row, double dram_bytes_per_second,
                        FlopsPerSecond flops_per_second) {
  RooflineWork roofline;
  roofline.communication = kernel.communication;
  roofline.time_ns = row.time_ns;
  roofline.flops_missing = row.work.flops.empty() && IsMatrixKernel(kernel.mangled_name);
  for (const TypedFlops& flops : row.work.flops) {
    const std::optional<double> rate = flops_per_second(flops.data_type);
    if (!rate.has_value()) continue;
    const double time_ns = row.launches * flops.flops / *rate * 1e9;
    roofline.compute_time_ns = roofline.compute_time_ns.value_or(0) + time_ns;
    if (flops.by_pipe) roofline.other_compute_time_ns += time_ns;
  }
  const auto& read = row.work.read_bytes;
  const auto& write = row.work.write_bytes;
  if (dram_bytes_per_second > 0 && (read.has_value() || write.has_value())) {
    const double bytes =
        read.value_or(CounterPerLaunch()).value + write.value_or(CounterPerLaunch()).value;
    roofline.memory_time_ns = row.launches * bytes / dram_bytes_per_second * 1e9;
  }
  return roofline;
}

void SetRoofline(const Kernel& kernel, const Ceilings& ceilings, KernelRow* row) {
  row->roofline = RooflineAt(kernel, *row, ceilings.dram_bytes_per_second,
                             [&](const auto& type) { return ceilings.FlopsPerSecond(type); });
  if (!ceilings.measured()) return;
  row->attained =
      RooflineAt(kernel, *row, ceilings.AttainedDramBytesPerSecond(),
                 [&](const auto& type) { return ceilings.AttainedFlopsPerSecond(type); });
}

DeviceAnalysis AnalyzeDevice(const RunState& state, uint32_t index, const SteadyPart& steady,
                             uint64_t now_ns, unsigned threads) {
  const DeviceState& device_state = state.devices[index];
  DeviceAnalysis device;
  device.ceilings = CeilingsOf(device_state);
  device.part = steady.Of(device_state, index);
  device.even_steps = FindEvenSteps(state, index, LaunchesInGaps(state, index, now_ns));
  TakeSlowdownOut(state, index, steady.steps, &device.part);
  device.overlap_share = OverlapShare(device_state);
  device.sampled = device_state.attribution.has_samples();
  if (device.sampled) device.attribution = device_state.attribution.Solve(threads);
  device.fallback_type = FallbackType(state, device.attribution);
  return device;
}

}  // namespace

Analysis Analyze(const RunState& state, const std::optional<StepsSpan>& steps, unsigned threads) {
  Analysis analysis;
  analysis.steady = FindSteadyPart(state, steps);
  analysis.devices.resize(state.devices.size());
  const uint64_t now_ns = state.NewestNs();
  const unsigned threads_of_each = ThreadsOfEach(state.devices.size(), threads);
  EachInThreads(state.devices.size(), threads, [&](size_t i) {
    analysis.devices[i] =
        AnalyzeDevice(state, static_cast<uint32_t>(i), analysis.steady, now_ns, threads_of_each);
  });
  for (uint32_t i = 0; i < state.kernels.kernels().size(); ++i) {
    AddRows(state, i, analysis.devices[state.kernels[i].device], now_ns, &analysis.rows);
  }
  WithholdOverlapped(state, &analysis);
  SetBounds(state, threads, &analysis);
  for (KernelRow& row : analysis.rows) SetWork(state, analysis, {}, &row);
  if (!state.ranges.empty()) {
    const Calibration calibration = Calibrate(state, analysis);
    for (KernelRow& row : analysis.rows) {
      SetWork(state, analysis, CalibrationOf(state, analysis, calibration, row), &row);
    }
  }
  for (KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    const Ceilings& ceilings = analysis.devices[kernel.device].ceilings;
    SetRoofline(kernel, ceilings, &row);
    WithholdUncertain(ceilings, &row);
  }
  SetSteadyShares(state, &analysis);
  return analysis;
}

}  // namespace utlz
