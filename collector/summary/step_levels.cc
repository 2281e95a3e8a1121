#include "collector/summary/step_levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace utlz {
namespace {

// A kernel that was away for this many steps' launches came back; a call has at least as many
// steps.
constexpr double kAwaySteps = 3;
constexpr double kFewestStepsInCall = 4;
// Of one kernel: fewer show no period.
constexpr size_t kFewestReturns = 3;
// Kernels that must come back together: one alone may do so by chance.
constexpr size_t kFewestKernels = 3;
// Share of a call by which a return may be early or late. Two returns at random are so close to a
// multiple of their distance once in fifty times.
constexpr double kCallTolerance = 0.01;
// Calls that may lie between two returns that were traced.
constexpr double kMostCallsBetween = 50;

// By which a number may differ from a whole one: of steps in a call, as a share, since the first of
// them launches other kernels; and of calls.
constexpr double kStepsTolerance = 0.005;
constexpr double kCallsTolerance = 0.05;
// Of a step: operations with which a program ends.
constexpr double kWayOut = 0.1;

constexpr char kStep[] = "step";

// Where kernels came back, in operations from the first step on.
struct Call {
  double first = 0;
  double operations = 0;  // in one call
  size_t returns = 0;
};

std::optional<Call> PeriodOf(const std::vector<double>& places, double step_operations) {
  if (places.size() < kFewestReturns) return std::nullopt;
  double shortest = places.back() - places.front();
  for (size_t i = 1; i < places.size(); ++i) {
    shortest = std::min(shortest, places[i] - places[i - 1]);
  }
  if (shortest < kFewestStepsInCall * step_operations) return std::nullopt;
  double calls = 0;
  for (size_t i = 1; i < places.size(); ++i) {
    const double between = (places[i] - places[i - 1]) / shortest;
    if (between > kMostCallsBetween) return std::nullopt;
    if (std::abs(between - std::round(between)) > kCallTolerance) return std::nullopt;
    calls += std::round(between);
  }
  return Call{.first = places.front(),
              .operations = (places.back() - places.front()) / calls,
              .returns = places.size()};
}

std::vector<double> PlacesOf(const std::vector<uint64_t>& starts, const OperationAxis& axis,
                             uint64_t origin_ns) {
  std::vector<double> places;
  for (const uint64_t start_ns : starts) {
    if (start_ns < origin_ns) continue;
    const auto operations = axis.Between(origin_ns, start_ns);
    if (!operations.has_value()) return {};
    places.push_back(*operations);
  }
  return places;
}

// The period that most kernels agree on; of two, the one seen more often.
std::optional<Call> FindCall(const FoundSteps& found, const OperationAxis& axis,
                             double step_launches) {
  std::map<std::pair<int64_t, size_t>, std::vector<Call>> alike;  // by steps in a call, and returns
  const auto away = static_cast<uint64_t>(kAwaySteps * step_launches);
  const uint64_t origin_ns =
      found.steps.front().start_ns -
      std::min<uint64_t>(found.steps.front().start_ns,
                         found.steps.front().end_ns - found.steps.front().start_ns);
  for (const std::vector<uint64_t>& starts : found.device->returns.After(away)) {
    const auto call = PeriodOf(PlacesOf(starts, axis, origin_ns), found.operations);
    if (!call.has_value()) continue;
    alike[{std::llround(call->operations / found.operations), call->returns}].push_back(*call);
  }
  const std::vector<Call>* best = nullptr;
  for (const auto& [key, calls] : alike) {
    if (best == nullptr || calls.size() >= best->size()) best = &calls;
  }
  if (best == nullptr || best->size() < kFewestKernels) return std::nullopt;
  return *std::min_element(best->begin(), best->end(),
                           [](const Call& a, const Call& b) { return a.first < b.first; });
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

StepLevel* LevelOf(const StepsSummary& summary, const char* name, StepsSummary* to) {
  StepLevel* level = to->add_levels();
  level->set_name(name);
  level->set_source(summary.source());
  return level;
}

// Steps after the last one that was traced whole, by the operations that followed it.
std::optional<double> StepsAfter(const FoundSteps& found, const OperationAxis& axis) {
  const auto after = axis.Between(found.steps.back().end_ns, axis.end_ns());
  if (!after.has_value() || found.operations <= 0) return std::nullopt;
  if (found.source != "pattern") return std::floor(*after / found.operations);
  // The kernel that marks the steps may be anywhere in one: what precedes it in the first and what
  // follows it in the last make one more together.
  return 1 + std::max(0.0, std::floor(*after / found.operations - kWayOut));
}

// Steps from the first to the end of the run, those that were not traced among them.
double CountSteps(const FoundSteps& found, const StepsSummary& summary) {
  double count = summary.after_traced();
  for (const Step& step : found.steps) count += step.weight;
  return count;
}

// What is a whole number but for how well it is known.
double WholeIfNear(double count, double tolerance) {
  return std::abs(count - std::round(count)) <= tolerance ? std::round(count) : count;
}

void AddCalls(const FoundSteps& found, const OperationAxis& axis, StepsSummary* summary) {
  if (found.operations <= 0 || !summary->has_launches()) return;
  const auto call = FindCall(found, axis, summary->launches());
  if (!call.has_value()) return;
  StepLevel* level = LevelOf(*summary, "call", summary);
  const double steps = call->operations / found.operations;
  level->set_inner(WholeIfNear(steps, kStepsTolerance * steps));
  const auto all = axis.Between(found.steps.front().start_ns, axis.end_ns());
  if (!all.has_value()) return;
  level->set_count(WholeIfNear((*all - call->first) / call->operations, kCallsTolerance));
}

void AddSteps(const FoundSteps& found, double layers, StepsSummary* summary) {
  StepLevel* level = LevelOf(*summary, kStep, summary);
  level->set_count(CountSteps(found, *summary));
  if (summary->levels_size() > 1) {
    const StepLevel& call = summary->levels(0);
    const double in_calls = call.count() * call.inner();
    if (std::abs(in_calls - level->count()) <= call.inner() / 2) level->set_count(in_calls);
  }
  if (summary->has_launches()) level->set_launches(summary->launches());
  if (layers > 0) level->set_inner(layers);
  summary->set_level(level->name());
}

// Times of those in steps after the warm-up.
void AddLayers(const StepFinder::Layers& layers, const FoundSteps& found, size_t warmup,
               double in_step, StepsSummary* summary) {
  std::vector<double> times_ns;
  auto step = found.steps.begin() + static_cast<ptrdiff_t>(warmup);
  for (const auto& [start_ns, end_ns] : layers.times) {
    while (step != found.steps.end() && step->end_ns < end_ns) ++step;
    if (step == found.steps.end()) break;
    if (start_ns >= step->start_ns) times_ns.push_back(static_cast<double>(end_ns - start_ns));
  }
  if (times_ns.empty()) return;
  StepLevel* level = LevelOf(*summary, "repetition", summary);
  level->set_count(in_step * summary->levels(summary->levels_size() - 2).count());
  level->set_launches(layers.launches);
  level->set_time_p50_ns(Median(std::move(times_ns)));
}

}  // namespace

void SummarizeLevels(const ModelState& model, const FoundSteps& found, size_t warmup,
                     StepsSummary* summary) {
  if (found.device == nullptr) return;
  const OperationAxis axis(model, found.device_index);
  if (const auto after = StepsAfter(found, axis)) summary->set_after_traced(*after);
  AddCalls(found, axis, summary);
  const std::optional<StepFinder::Layers> layers =
      found.source == "pattern" ? found.device->steps.FindLayers() : std::nullopt;
  const double in_step = layers.has_value() ? std::round(layers->in_step) : 0;
  AddSteps(found, in_step, summary);
  if (layers.has_value()) AddLayers(*layers, found, warmup, in_step, summary);
  CopyStepTimes(summary);
}

void CopyStepTimes(StepsSummary* summary) {
  double call_steps = 0;
  for (StepLevel& level : *summary->mutable_levels()) {
    if (level.name() == "call") {
      call_steps = level.inner();
      level.set_time_mean_ns(call_steps * summary->time_mean_ns());
    }
    if (level.name() != kStep) continue;
    level.set_time_mean_ns(summary->time_mean_ns());
    level.set_time_p50_ns(summary->time_p50_ns());
    level.set_time_p99_ns(summary->time_p99_ns());
  }
}

}  // namespace utlz
