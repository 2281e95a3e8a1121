#include "collector/steps/calls.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace utlz {
namespace {

// A kernel that was away for this many steps' launches came back; a call has at least as many
// steps.
constexpr double kAwaySteps = 3;
constexpr double kFewestStepsInCall = 4;
// Of one kernel: fewer show a period only where all between them was traced.
constexpr size_t kFewestReturns = 3;
// A step of this many steps' operations holds something else as well, such as an evaluation.
constexpr double kInterludeSteps = 3;
// Kernels that must come back together: one alone may do so by chance.
constexpr size_t kFewestKernels = 3;
// Share of a call by which a return may be early or late. Two returns at random are so close to a
// multiple of their distance once in fifty times.
constexpr double kCallTolerance = 0.01;
// Calls that may lie between two returns that were traced.
constexpr double kMostCallsBetween = 50;
// Of a call: by which a run of two traced calls may differ from a whole number of them.
constexpr double kWholeTolerance = 0.05;
constexpr double kUntracedNs = 1;

// When a kernel came back, and after how many operations from OriginNs on.
struct Return {
  uint64_t start_ns = 0;
  double place = 0;
};

struct Period {
  double operations = 0;  // in one call
  std::vector<Return> returns;
};

// Where what calls are looked for in is not known whole, nothing is found.
class CallFinder {
 public:
  CallFinder(const FoundSteps& found, const OperationAxis& axis)
      : found_(found), axis_(axis), origin_ns_(OriginNs(found)) {
    rest_ = axis.Between(origin_ns_, axis.end_ns());
  }

  std::optional<Calls> Find(double step_launches) const {
    // By steps in a call, and returns.
    std::map<std::pair<int64_t, size_t>, std::vector<Period>> alike;
    const auto away = static_cast<uint64_t>(kAwaySteps * step_launches);
    for (const std::vector<uint64_t>& starts : found_.device->returns.After(away)) {
      auto period = PeriodOf(ReturnsAt(starts));
      if (!period.has_value()) continue;
      const auto steps = std::llround(period->operations / found_.operations);
      alike[{steps, period->returns.size()}].push_back(*std::move(period));
    }
    const std::vector<Period>* best = nullptr;
    for (const auto& [key, periods] : alike) {
      if (best == nullptr || periods.size() >= best->size()) best = &periods;
    }
    if (best == nullptr || best->size() < kFewestKernels) return std::nullopt;
    return CallsOf(*best);
  }

 private:
  // A step before the first one that was traced whole: a call begins with the first launch of its
  // first step, and the kernel that marks the steps may come later.
  static uint64_t OriginNs(const FoundSteps& found) {
    const Step& first = found.steps.front();
    return first.start_ns - std::min(first.start_ns, first.end_ns - first.start_ns);
  }

  std::vector<Return> ReturnsAt(const std::vector<uint64_t>& starts) const {
    std::vector<Return> returns;
    for (const uint64_t start_ns : starts) {
      if (start_ns < origin_ns_) continue;
      if (IsAfterInterlude(start_ns)) return {};
      const auto operations = axis_.Between(origin_ns_, start_ns);
      if (!operations.has_value()) return {};
      returns.push_back({.start_ns = start_ns, .place = *operations});
    }
    return returns;
  }

  // In an evaluation between steps kernels of every step are away, and come back after it: that
  // makes no call of the steps before it.
  bool IsAfterInterlude(uint64_t start_ns) const {
    const std::vector<Step>& steps = found_.steps;
    const auto after = std::partition_point(
        steps.begin(), steps.end(), [&](const Step& step) { return step.start_ns <= start_ns; });
    const auto is_interlude = [&](const Step& step) {
      return step.content.operations > kInterludeSteps * found_.operations;
    };
    const auto count = std::min<ptrdiff_t>(2, after - steps.begin());
    return std::any_of(after - count, after, is_interlude);
  }

  std::optional<Period> PeriodOf(std::vector<Return> returns) const {
    if (returns.size() < 2) return std::nullopt;
    const double span = returns.back().place - returns.front().place;
    double shortest = span;
    for (size_t i = 1; i < returns.size(); ++i) {
      shortest = std::min(shortest, returns[i].place - returns[i - 1].place);
    }
    if (shortest < kFewestStepsInCall * found_.operations) return std::nullopt;
    if (returns.size() < kFewestReturns && !AreTwoWholeCalls(returns, shortest)) {
      return std::nullopt;
    }
    double calls = 0;
    for (size_t i = 1; i < returns.size(); ++i) {
      const double between = (returns[i].place - returns[i - 1].place) / shortest;
      if (between > kMostCallsBetween) return std::nullopt;
      if (std::abs(between - std::round(between)) > kCallTolerance) return std::nullopt;
      calls += std::round(between);
    }
    return Period{.operations = span / calls, .returns = std::move(returns)};
  }

  // One distance alone fits any two returns. It is a call's where nothing between them was missed,
  // and where the rest of the run is made of such calls.
  bool AreTwoWholeCalls(const std::vector<Return>& returns, double operations) const {
    if (!rest_.has_value()) return false;
    const double untraced_ns =
        found_.ledger().Between(returns[0].start_ns, returns[1].start_ns).UntracedNs();
    const double calls = (*rest_ - returns[0].place) / operations;
    return untraced_ns < kUntracedNs && std::abs(calls - std::round(calls)) <= kWholeTolerance;
  }

  Calls CallsOf(const std::vector<Period>& periods) const {
    const Period& earliest =
        *std::min_element(periods.begin(), periods.end(), [](const Period& a, const Period& b) {
          return a.returns.front().place < b.returns.front().place;
        });
    Calls calls;
    calls.operations = earliest.operations;
    if (rest_.has_value()) {
      calls.count = (*rest_ - earliest.returns.front().place) / earliest.operations;
    }
    calls.begins.resize(earliest.returns.size());
    for (const Period& period : periods) {
      for (size_t i = 0; i < calls.begins.size(); ++i) {
        Calls::Begin& begin = calls.begins[i];
        begin.first_ns = std::min(begin.first_ns, period.returns[i].start_ns);
        begin.last_ns = std::max(begin.last_ns, period.returns[i].start_ns);
      }
    }
    return calls;
  }

  const FoundSteps& found_;
  const OperationAxis& axis_;
  uint64_t origin_ns_;
  std::optional<double> rest_;  // operations from there to the end of the run
};

// What holds a call's beginning may hold a part of other steps too: the kernel that marks the steps
// may lie in the middle of the first one, or be missing there. Whatever it has of operations beyond
// one step's is of others, and takes as long as they usually do.
std::optional<double> FirstStepNs(const Calls::Begin& begin, const FoundSteps& found, size_t warmup,
                                  double usual_ns) {
  const std::vector<Step>& steps = found.steps;
  const auto first = std::partition_point(
      steps.begin(), steps.end(), [&](const Step& step) { return step.end_ns <= begin.first_ns; });
  const auto last = std::partition_point(
      steps.begin(), steps.end(), [&](const Step& step) { return step.end_ns <= begin.last_ns; });
  if (last == steps.end() || first->start_ns > begin.first_ns) return std::nullopt;
  if (first < steps.begin() + static_cast<ptrdiff_t>(warmup)) return std::nullopt;
  double time_ns = first->length_ns();
  double operations = first->content.operations;
  for (auto step = first; step != last; ++step) {
    const auto next = step + 1;
    if (next->start_ns != step->end_ns) return std::nullopt;
    time_ns += next->length_ns();
    operations += next->content.operations;
  }
  return time_ns - usual_ns * std::max(0.0, operations / found.operations - 1);
}

}  // namespace

std::optional<Calls> FindCalls(const FoundSteps& found, const OperationAxis& axis,
                               double step_launches) {
  if (found.device == nullptr || found.steps.empty() || found.operations <= 0) return std::nullopt;
  // Kernels of the other processes on the device would come back among its own.
  if (found.process.has_value()) return std::nullopt;
  return CallFinder(found, axis).Find(step_launches);
}

std::optional<Prefill> PrefillOf(const Calls& calls, const FoundSteps& found, size_t warmup,
                                 double usual_ns) {
  Prefill prefill;
  double sum_ns = 0;
  for (const Calls::Begin& begin : calls.begins) {
    const auto time_ns = FirstStepNs(begin, found, warmup, usual_ns);
    if (!time_ns.has_value() || *time_ns <= 0) continue;
    sum_ns += *time_ns;
    ++prefill.traced;
  }
  if (prefill.traced == 0) return std::nullopt;
  prefill.time_ns = sum_ns / static_cast<double>(prefill.traced);
  return prefill;
}

}  // namespace utlz
