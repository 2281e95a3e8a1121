#include "collector/metrics/work_ledger.h"

#include <algorithm>

namespace utlz {
namespace {

constexpr char kOtherType[] = "other";

uint64_t KeyOf(uint32_t kernel, uint32_t source) {
  return (static_cast<uint64_t>(kernel) << 32) | source;
}

KernelFamily FamilyOfKernel(const Kernel& kernel) {
  if (kernel.other) return KernelFamily::kOther;
  return kernel.communication ? KernelFamily::kCommunication : FamilyOf(kernel.mangled_name);
}

// All launches: traced ones, untimed ones, and those estimated to have run between windows.
KernelSum AllOf(const RunState& state, const Kernel& kernel, const KernelShare& share) {
  KernelSum sum{static_cast<double>(share.launches + share.untimed),
                static_cast<double>(share.time_ns) +
                    static_cast<double>(share.untimed) * kernel.durations.mean_ns()};
  const auto found = state.processes.processes().find(share.source);
  if (found != state.processes.processes().end()) {
    const ProcessState& process = *found->second;
    sum += share.by_window.InGaps(process.windows, process.LivedUntilNs(state.NewestNs()));
  }
  return sum;
}

// Counts what an estimate has grown by beyond what was counted before, and returns that.
double Grow(double estimate, double* counted) {
  const double growth = std::max(0.0, estimate - *counted);
  *counted += growth;
  return growth;
}

void Add(const std::optional<double>& of_one, double times, std::optional<double>* sum) {
  if (of_one.has_value()) *sum = sum->value_or(0) + times * *of_one;
}

void AddFlops(const KernelWorth& worth, double launches, WorkSum* sum) {
  for (const auto& [type, flops] : worth.flops) {
    const bool fits = sum->flops.contains(type) || sum->flops.size() + 1 < WorkLedger::kMostTypes;
    sum->flops[fits ? type : kOtherType] += launches * flops;
  }
}

// Shares are sums, which rounding may leave below one.
double Unknown(double known_share) { return known_share > 1 - 1e-9 ? 0 : 1 - known_share; }

bool EndedLongAgo(const ProcessState& process, uint64_t now_ns) {
  return process.end.has_value() && process.LivedUntilNs(now_ns) + WorkLedger::kKeptNs < now_ns;
}

}  // namespace

void WorkLedger::Update(const RunState& state, const WorthTable& worths) {
  ForgetEnded(state);
  renewed_ns_ = worths.renewed_ns();
  for (uint32_t i = 0; i < state.kernels.kernels().size(); ++i) {
    if (!state.kernels[i].profiler) CountKernel(state, i, worths);
  }
}

void WorkLedger::CountKernel(const RunState& state, uint32_t index, const WorthTable& worths) {
  const Kernel& kernel = state.kernels[index];
  const KernelFamily family = FamilyOfKernel(kernel);
  if (devices_.size() <= kernel.device) devices_.resize(kernel.device + 1);
  for (const KernelShare& share : kernel.shares) {
    if (forgotten_.contains(share.source)) continue;
    CountShare(state, kernel, family, worths.Of(index), share,
               &counted_[KeyOf(index, share.source)]);
  }
}

void WorkLedger::CountShare(const RunState& state, const Kernel& kernel, KernelFamily family,
                            const KernelWorth& worth, const KernelShare& share, Counted* counted) {
  const KernelSum all = AllOf(state, kernel, share);
  if (all.launches <= 0) return;
  const Growth growth{Grow(all.launches, &counted->sum.launches),
                      Grow(all.time_ns, &counted->sum.time_ns)};
  WorkSum& sum = SumOf(kernel.device, share.source);
  FamilyWork& of_family = sum.families[static_cast<size_t>(family)];
  of_family.launches += growth.launches;
  of_family.time_ns += growth.time_ns;
  Add(worth.savings_share, growth.time_ns, &of_family.savings_ns);
  DeviceWork& device = devices_[kernel.device];
  if (!kernel.communication) {
    for (size_t i = 0; i < kTimeCauses; ++i) {
      device.causes_ns[i] += growth.time_ns * worth.causes[i];
    }
    CountCompute(growth, worth, &device);
    CountCompute(growth, worth, &sum.compute);
  }
  CountWorth(worth, state.NewestNs(), {all.launches, all.time_ns}, counted, &sum);
}

void WorkLedger::CountCompute(const Growth& growth, const KernelWorth& worth, ComputeWork* work) {
  work->kernel_ns += growth.time_ns;
  work->counted_ns += growth.time_ns * worth.flops_share;
  work->peak_ns += growth.launches * worth.peak_ns.value_or(0);
}

void WorkLedger::CountWorth(const KernelWorth& worth, uint64_t now_ns, const Growth& whole,
                            Counted* counted, WorkSum* sum) {
  const Growth with_flops = Settle(worth.flops_share, now_ns, whole, &counted->flops);
  sum->flops_uncounted_ns += with_flops.time_ns * Unknown(worth.flops_share);
  AddFlops(worth, with_flops.launches, sum);
  Add(worth.peak_ns, with_flops.launches, &sum->peak_ns);
  const Growth with_bytes = Settle(worth.bytes_share, now_ns, whole, &counted->bytes);
  sum->bytes_uncounted_ns += with_bytes.time_ns * Unknown(worth.bytes_share);
  Add(worth.read_bytes, with_bytes.launches, &sum->read_bytes);
  Add(worth.write_bytes, with_bytes.launches, &sum->write_bytes);
}

WorkLedger::Growth WorkLedger::Settle(double known_share, uint64_t now_ns, const Growth& whole,
                                      Settled* settled) const {
  if (known_share > 0) {
    settled->waiting_since_ns = 0;
  } else if (whole.launches <= settled->sum.launches || StillWaits(now_ns, settled)) {
    return {};
  }
  return {Grow(whole.launches, &settled->sum.launches), Grow(whole.time_ns, &settled->sum.time_ns)};
}

bool WorkLedger::StillWaits(uint64_t now_ns, Settled* settled) const {
  if (settled->waiting_since_ns == 0) settled->waiting_since_ns = now_ns;
  return std::min(now_ns, renewed_ns_) < settled->waiting_since_ns + kPatienceNs;
}

WorkSum& WorkLedger::SumOf(uint32_t device, uint32_t source) {
  if (others_.contains(source)) return sums_[{device, kOthers}];
  const auto found = sums_.find({device, source});
  if (found != sums_.end()) return found->second;
  const auto own = std::count_if(sums_.begin(), sums_.end(),
                                 [](const auto& entry) { return entry.first.second != kOthers; });
  if (static_cast<size_t>(own) < kMostPairs) return sums_[{device, source}];
  // What it did on other GPUs before stays its own.
  const bool has_pairs = std::any_of(sums_.begin(), sums_.end(), [source](const auto& entry) {
    return entry.first.second == source;
  });
  if (!has_pairs) others_.insert(source);
  return sums_[{device, kOthers}];
}

void WorkLedger::ForgetEnded(const RunState& state) {
  const uint64_t now_ns = state.NewestNs();
  for (const auto& [source, process] : state.processes.processes()) {
    if (!EndedLongAgo(*process, now_ns) || !forgotten_.insert(source).second) continue;
    const uint32_t gone = source;
    std::erase_if(sums_, [gone](const auto& entry) { return entry.first.second == gone; });
    std::erase_if(counted_,
                  [gone](const auto& entry) { return static_cast<uint32_t>(entry.first) == gone; });
    others_.erase(source);
  }
}

}  // namespace utlz
