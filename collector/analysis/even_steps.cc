#include "collector/analysis/even_steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "collector/median.h"

namespace utlz {
namespace {

using Launches = std::vector<StepContent::Launch>;

constexpr size_t kFewestSteps = 8;
// Steps whose launches differ by this share are alike: one may have picked another variant.
constexpr double kAlike = 0.02;
// Of what windows saw beside gaps: launches of kernels that no step launches.
constexpr double kMostOfOthers = 0.02;
// Windows meet parts of a step by chance: their shares of kernels are off from a step's by about
// this, divided by the root of their number, in steps that launch all the same.
constexpr double kApartByChance = 0.4;

// Steps that are alike, and everything that was recorded beside them.
struct LikeSteps {
  std::vector<const Launches*> steps;
  std::vector<const Launches*> outside;
};

// Unlike steps are warm-up at the beginning only. Later on they show that steps differ.
std::optional<LikeSteps> AlikeOf(const StepContent& content) {
  std::vector<double> sizes;
  for (const Launches& step : content.steps) sizes.push_back(static_cast<double>(step.size()));
  if (sizes.size() < kFewestSteps) return std::nullopt;
  const double median = UpperMedian(sizes);
  LikeSteps found;
  found.outside.push_back(&content.before_steps);
  for (const Launches& step : content.steps) {
    const double apart = std::abs(static_cast<double>(step.size()) - median);
    const bool alike = apart <= kAlike * median;
    if (!alike && !found.steps.empty()) return std::nullopt;
    (alike ? found.steps : found.outside).push_back(&step);
  }
  if (found.steps.size() < kFewestSteps) return std::nullopt;
  return found;
}

size_t WithoutStack(const Launches& step) {
  return static_cast<size_t>(std::count_if(step.begin(), step.end(),
                                           [](const auto& one) { return one.stack == kNoStack; }));
}

// Those that tell best what launched their kernels: the first ones may not, since the agent finds
// out how to read stacks while they run.
std::vector<const Launches*> BestWithStacks(const std::vector<const Launches*>& steps) {
  std::vector<double> without;
  for (const Launches* step : steps) without.push_back(static_cast<double>(WithoutStack(*step)));
  const double median = UpperMedian(without);
  std::vector<const Launches*> best;
  for (const Launches* step : steps) {
    if (static_cast<double>(WithoutStack(*step)) <= median) best.push_back(step);
  }
  return best;
}

// What one process recorded on the device.
struct Recorded {
  std::map<uint32_t, double> launches;  // by kernel
  size_t windows = 0;

  double LaunchesOf(uint32_t kernel) const {
    const auto found = launches.find(kernel);
    return found == launches.end() ? 0 : found->second;
  }
};

// Nothing where several processes launch kernels on the device.
std::optional<Recorded> RecordedOn(const RunState& state, uint32_t device) {
  Recorded recorded;
  std::optional<uint32_t> source;
  for (uint32_t i = 0; i < state.kernels.kernels().size(); ++i) {
    const Kernel& kernel = state.kernels[i];
    if (kernel.device != device) continue;
    for (const KernelShare& share : kernel.shares) {
      if (source.value_or(share.source) != share.source) return std::nullopt;
      source = share.source;
      recorded.launches[i] += static_cast<double>(share.launches + share.untimed);
    }
  }
  if (!source.has_value()) return std::nullopt;
  const auto process = state.processes.processes().find(*source);
  if (process == state.processes.processes().end()) return std::nullopt;
  recorded.windows = process->second->windows.size();
  return recorded;
}

// How kernels last in the steps, and outside. Without those that no step launches and that ran
// later all the same.
EvenSteps KernelsOf(const LikeSteps& alike, const Recorded& recorded) {
  EvenSteps even;
  for (const Launches* step : alike.steps) {
    for (const StepContent::Launch& launch : *step) {
      even[launch.kernel].in_steps.Add(launch.duration_ns);
    }
  }
  for (const Launches* part : alike.outside) {
    for (const StepContent::Launch& launch : *part) {
      even[launch.kernel].outside.Add(launch.duration_ns);
    }
  }
  std::erase_if(even, [&](const auto& entry) {
    const EvenKernel& kernel = entry.second;
    return kernel.in_steps.count() == 0 &&
           recorded.LaunchesOf(entry.first) > static_cast<double>(kernel.outside.count());
  });
  return even;
}

// What windows say that ran between them.
struct InGaps {
  double of_known = 0;  // of kernels that steps launch, or that ran outside alone
  double of_others = 0;
};

InGaps SumOf(const std::map<uint32_t, double>& in_gaps, const EvenSteps& even) {
  InGaps sum;
  for (const auto& [kernel, launches] : in_gaps) {
    (even.contains(kernel) ? sum.of_known : sum.of_others) += launches;
  }
  return sum;
}

// Of each kernel the launches in all steps of the run, and between windows, so that all of these
// add up to as many as the windows say.
void DivideAmongKernels(const Recorded& recorded, double all_in_gaps, EvenSteps* even) {
  std::vector<double> expected, had;
  double in_recorded_steps = 0, in_steps = all_in_gaps;
  for (const auto& [kernel, of_kernel] : *even) {
    had.push_back(recorded.LaunchesOf(kernel) - static_cast<double>(of_kernel.outside.count()));
    in_recorded_steps += static_cast<double>(of_kernel.in_steps.count());
    in_steps += had.back();
  }
  const double steps = std::max(0.0, in_steps) / in_recorded_steps;
  for (auto& [kernel, of_kernel] : *even) {
    of_kernel.launches_in_steps = steps * static_cast<double>(of_kernel.in_steps.count());
    expected.push_back(of_kernel.launches_in_steps);
  }
  const std::vector<double> in_gaps = FillUp(expected, had, all_in_gaps);
  size_t i = 0;
  for (auto& [kernel, of_kernel] : *even) of_kernel.launches_in_gaps = in_gaps[i++];
}

bool AgreeWithWindows(const EvenSteps& even, size_t windows, const InGaps& sum,
                      const std::map<uint32_t, double>& in_gaps) {
  double apart = 0;
  for (const auto& [kernel, of_kernel] : even) {
    const auto found = in_gaps.find(kernel);
    const double by_windows = found == in_gaps.end() ? 0 : found->second;
    apart += std::abs(of_kernel.launches_in_gaps - by_windows);
  }
  const double by_chance = kApartByChance / std::sqrt(static_cast<double>(windows));
  return sum.of_others <= kMostOfOthers * (sum.of_known + sum.of_others) &&
         apart / 2 <= by_chance * sum.of_known;
}

using ByKernelAndStack = std::map<uint32_t, std::map<uint32_t, double>>;

ByKernelAndStack CountByStack(const std::vector<const Launches*>& parts) {
  ByKernelAndStack counts;
  for (const Launches* part : parts) {
    for (const StepContent::Launch& launch : *part) ++counts[launch.kernel][launch.stack];
  }
  return counts;
}

// Recorded launches of the kernels, those without a stack too.
ByKernelAndStack RecordedByStack(const RunState& state, const Recorded& recorded) {
  ByKernelAndStack counts;
  state.stack_work.ForEachSite([&](uint32_t kernel, uint32_t stack, const StackWork::Sums& sums) {
    if (!recorded.launches.contains(kernel)) return;
    counts[kernel][stack] += static_cast<double>(sums.launches);
  });
  for (const auto& [kernel, launches] : recorded.launches) {
    double with_stack = 0;
    for (const auto& [stack, of_stack] : counts[kernel]) with_stack += of_stack;
    counts[kernel][kNoStack] = std::max(0.0, launches - with_stack);
  }
  return counts;
}

// Stacks that are the same but for what of them is inferred: one window saw the forward pass of a
// backward launch, and another one did not.
class SameStacks {
 public:
  explicit SameStacks(const StackTable& stacks) : stacks_(stacks) {}

  // One of those that are the same, always the same one.
  uint32_t OneOf(uint32_t stack) {
    if (stack == kNoStack) return kNoStack;
    if (const auto known = ones_.find(stack); known != ones_.end()) return known->second;
    const StackFrame& frame = stacks_.FrameOf(stack);
    const Frames frames(OneOf(stacks_.ParentOf(stack)), frame.kind, frame.name, frame.file,
                        frame.module_class, frame.line);
    return ones_[stack] = by_frames_.try_emplace(frames, stack).first->second;
  }

 private:
  using Frames =
      std::tuple<uint32_t, StackFrameKind, std::string, std::string, std::string, uint32_t>;

  const StackTable& stacks_;
  std::map<uint32_t, uint32_t> ones_;
  std::map<Frames, uint32_t> by_frames_;
};

// Launches of one kernel.
struct StackShares {
  std::map<uint32_t, double> in_steps;          // by stack
  std::map<uint32_t, double> in_steps_by_same;  // by SameStacks
  std::map<uint32_t, double> had_by_same;       // recorded and not outside, likewise
};

void DivideAmongStacks(const StackShares& shares, SameStacks* same, EvenKernel* even) {
  double launches = 0;
  for (const auto& [stack, count] : shares.in_steps_by_same) launches += count;
  std::vector<double> expected, had;
  for (const auto& [stack, count] : shares.in_steps_by_same) {
    const auto found = shares.had_by_same.find(stack);
    expected.push_back(even->launches_in_steps * count / launches);
    had.push_back(found == shares.had_by_same.end() ? 0 : found->second);
  }
  const std::vector<double> in_gaps = FillUp(expected, had, even->launches_in_gaps);
  std::map<uint32_t, double> of_one;  // in gaps, of a launch in the steps that were counted
  size_t i = 0;
  for (const auto& [stack, count] : shares.in_steps_by_same) of_one[stack] = in_gaps[i++] / count;
  for (const auto& [stack, count] : shares.in_steps) {
    even->in_gaps_by_stack[stack] = count * of_one[same->OneOf(stack)];
  }
}

void DivideAmongStacks(const RunState& state, const LikeSteps& alike, const Recorded& recorded,
                       EvenSteps* even) {
  SameStacks same(state.stacks);
  std::map<uint32_t, StackShares> kernels;
  for (const auto& [kernel, stacks] : CountByStack(BestWithStacks(alike.steps))) {
    for (const auto& [stack, launches] : stacks) {
      kernels[kernel].in_steps[stack] = launches;
      kernels[kernel].in_steps_by_same[same.OneOf(stack)] += launches;
    }
  }
  const auto add_had = [&](const ByKernelAndStack& counts, double sign) {
    for (const auto& [kernel, stacks] : counts) {
      for (const auto& [stack, launches] : stacks) {
        kernels[kernel].had_by_same[same.OneOf(stack)] += sign * launches;
      }
    }
  };
  add_had(RecordedByStack(state, recorded), 1);
  add_had(CountByStack(alike.outside), -1);
  for (auto& [kernel, of_kernel] : *even) DivideAmongStacks(kernels[kernel], &same, &of_kernel);
}

}  // namespace

std::vector<double> FillUp(const std::vector<double>& expected, const std::vector<double>& recorded,
                           double total) {
  std::vector<double> parts(expected.size());
  double sum = 0, all_expected = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = std::max(0.0, expected[i] - recorded[i]);
    sum += parts[i];
    all_expected += expected[i];
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (sum > 0) {
      parts[i] *= total / sum;
    } else if (all_expected > 0) {
      parts[i] = expected[i] * total / all_expected;
    }
  }
  return parts;
}

EvenSteps FindEvenSteps(const RunState& state, uint32_t device,
                        const std::map<uint32_t, double>& in_gaps) {
  const std::optional<StepContent> content = state.devices[device].steps.Content();
  if (!content.has_value()) return {};
  const std::optional<LikeSteps> alike = AlikeOf(*content);
  const std::optional<Recorded> recorded = RecordedOn(state, device);
  if (!alike.has_value() || !recorded.has_value()) return {};
  EvenSteps even = KernelsOf(*alike, *recorded);
  const InGaps sum = SumOf(in_gaps, even);
  if (sum.of_known <= 0) return {};
  DivideAmongKernels(*recorded, sum.of_known, &even);
  if (!AgreeWithWindows(even, recorded->windows, sum, in_gaps)) return {};
  DivideAmongStacks(state, *alike, *recorded, &even);
  return even;
}

}  // namespace utlz
