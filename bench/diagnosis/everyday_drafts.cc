#include "bench/diagnosis/everyday_drafts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/step_parts.h"

namespace utlz {
namespace {

Item HiddenCopy(CopyKind kind, double time_ns) {
  return {.kind = Item::Kind::kCopyOverlapped,
          .time_ns = time_ns,
          .copy = kind,
          .bytes = static_cast<uint64_t>(time_ns * kPinnedBytesPerNs)};
}

// Batches come in and activations go out on a stream of their own, behind kernels.
void OverlapCopies(Draft* draft) {
  for (Step& step : draft->ranks.front()) {
    for (const size_t place : {3, 2, 1}) {
      const auto at = static_cast<std::ptrdiff_t>(place * step.size() / 4);
      const CopyKind kind = place == 2 ? COPY_DEVICE_TO_HOST : COPY_HOST_TO_DEVICE;
      step.insert(step.begin() + at, HiddenCopy(kind, 400e3));
    }
  }
}

// The longest products of the step are experts: each gets from none to twice its tokens.
void RouteTokens(Draft* draft) {
  Chance chance;
  for (Step& step : draft->ranks.front()) {
    Step routed;
    size_t products = 0;
    for (const Item& item : step) {
      const bool expert = IsMatrix(draft->run.kernels[item.kernel]) && ++products % 2 == 0;
      const double share = expert ? 2 * chance.Next() : 1;
      if (share < 0.2) continue;
      routed.push_back(item);
      routed.back().time_ns *= share;
      routed.back().work_share *= share;
    }
    step = std::move(routed);
  }
}

void VaryLengths(Draft* draft) {
  Chance chance;
  for (Step& step : draft->ranks.front()) step = Larger(step, 0.4 + 1.2 * chance.Next());
}

void Accumulate(Draft* draft) {
  constexpr size_t kMicroSteps = 4;
  const Step whole = draft->FirstStep();
  Step step;
  for (size_t i = 1; i < kMicroSteps; ++i) Append(WithoutOptimizer(whole), &step);
  Append(whole, &step);
  draft->ranks.assign(1, std::vector<Step>(60, step));
}

void Evaluate(Draft* draft) {
  constexpr size_t kEvery = 50;
  constexpr size_t kBatches = 30;
  const Step whole = draft->FirstStep();
  draft->usual_step_ns = StepNs(*draft, whole);
  std::vector<Step>& steps = draft->ranks.front();
  steps.resize(250, whole);
  for (size_t i = kEvery - 1; i < steps.size(); i += kEvery) {
    for (size_t batch = 0; batch < kBatches; ++batch) Append(Forward(whole), &steps[i]);
  }
}

// A discriminator's turn, then a generator's, which is half as long and has other kernels.
void TakeTurns(Draft* draft) {
  const Step whole = draft->FirstStep();
  Step step = whole;
  const auto middle = static_cast<std::ptrdiff_t>(whole.size() / 2);
  Append(Step(whole.begin() + middle, whole.end()), &step);
  draft->ranks.assign(1, std::vector<Step>(120, step));
}

// Requests of one forward pass each: ten at once, then up to two seconds of nothing, and a night.
void AnswerBursts(Draft* draft) {
  constexpr size_t kBursts = 12;
  Chance chance;
  const Step request = Forward(draft->FirstStep());
  draft->usual_step_ns = StepNs(*draft, request);
  std::vector<Step> steps;
  for (size_t burst = 0; burst < kBursts; ++burst) {
    const auto requests = static_cast<size_t>(20 + 40 * chance.Next());
    for (size_t i = 0; i < requests; ++i) steps.push_back(request);
    const double idle_ns = burst == kBursts / 2 ? 12e9 : 0.2e9 + 1.8e9 * chance.Next();
    if (burst + 1 < kBursts) steps.back().push_back(Gap(idle_ns));
  }
  draft->ranks.assign(1, std::move(steps));
  draft->busy_known = false;
}

// A server that batches requests as they come: tokens for all of them, and a prompt now and then.
void AdmitRequests(Draft* draft) {
  Chance chance;
  const std::vector<Step> calls = draft->ranks.front();
  const size_t each = draft->steps_per_call;
  std::vector<Step> steps;
  while (steps.size() < calls.size()) {
    steps.push_back(calls.front());
    const auto tokens = static_cast<size_t>(3 + 100 * chance.Next());
    for (size_t i = 0; i < tokens; ++i) steps.push_back(calls[1 + i % (each - 1)]);
  }
  draft->usual_step_ns = StepNs(*draft, calls[each / 2]);
  draft->steps_per_call = 1;
  draft->ranks.assign(1, std::move(steps));
}

// Two trainings that know nothing of each other.
void ShareTheGpu(Draft* draft) {
  draft->run.one_gpu = true;
  draft->run.ranks.resize(2);
  for (Step& step : draft->ranks.front()) {
    for (Item& item : step) item.time_ns *= 2;
  }
  draft->ranks.push_back(draft->ranks.front());
}

// What XLA makes of a model: few kernels, milliseconds each.
void FuseAll(Draft* draft) {
  const Step whole = draft->FirstStep();
  Step fused;
  for (const Item& item : whole) {
    if (!IsMatrix(draft->run.kernels[item.kernel]) || fused.size() == 5) continue;
    const bool known = std::any_of(fused.begin(), fused.end(), [&item](const Item& other) {
      return other.kernel == item.kernel;
    });
    if (known) continue;
    fused.push_back(item);
    fused.back().work_share = 4e6 / item.time_ns;
    fused.back().time_ns = 4e6;
  }
  draft->ranks.assign(1, std::vector<Step>(200, fused));
}

// Two streams with the same kernels at the same time, each at half of the speed.
void RunBeside(Draft* draft) {
  for (Step& step : draft->ranks.front()) {
    Step doubled;
    for (Item item : step) {
      item.time_ns *= 2;
      Item other = item;
      other.kind = Item::Kind::kOverlapped;
      other.time_ns *= 0.97;
      doubled.push_back(other);
      doubled.push_back(item);
    }
    step = std::move(doubled);
  }
}

struct Everyday {
  const char* name;
  const char* base;
  void (*change)(Draft* draft);
};

constexpr Everyday kEveryday[] = {
    {"overlapped_copies", "training", OverlapCopies},
    {"experts", "training", RouteTokens},
    {"lengths", "training", VaryLengths},
    {"accumulation", "training", Accumulate},
    {"evaluation", "training", Evaluate},
    {"two_networks", "training", TakeTurns},
    {"bursts", "training", AnswerBursts},
    {"continuous_batches", "generation", AdmitRequests},
    {"one_gpu", "training", ShareTheGpu},
    {"fused", "training", FuseAll},
    {"two_streams", "training", RunBeside},
};

}  // namespace

std::optional<Draft> EverydayDraft(std::string_view name, const Recordings& recordings) {
  for (const Everyday& everyday : kEveryday) {
    if (name != everyday.name) continue;
    std::optional<Draft> draft = HealthyDraft(everyday.base, recordings);
    if (draft.has_value()) everyday.change(&*draft);
    return draft;
  }
  return std::nullopt;
}

const std::vector<const char*>& EverydayLoads() {
  static const auto* const kNames = [] {
    auto* names = new std::vector<const char*>;
    for (const Everyday& everyday : kEveryday) names->push_back(everyday.name);
    return names;
  }();
  return *kNames;
}

}  // namespace utlz
