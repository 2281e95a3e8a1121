#include "bench/diagnosis/wait_causes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/planting.h"

namespace utlz {
namespace {

constexpr double kReadbackNs = 2'000;

size_t KernelsIn(const Step& step) {
  return static_cast<size_t>(std::count_if(
      step.begin(), step.end(), [](const Item& item) { return item.kind == Item::Kind::kKernel; }));
}

// Idle time between requests does not count: it has no launches.
double WorkingNs(const Draft& draft, const Step& step) {
  double idle_ns = 0;
  for (const Item& item : step) idle_ns += item.kind == Item::Kind::kGap ? item.time_ns : 0;
  return StepNs(draft, step) - idle_ns;
}

constexpr double kShortCollectiveNs = 50'000;

// More of the same work.
void Enlarge(double factor, Step* step) {
  Stretch(factor, step);
  for (Item& item : *step) item.work_share *= factor;
}

}  // namespace

void PlantLaunchGaps(double share, Draft* draft) {
  EachStep(share, draft, [share, draft](double, Step* step) {
    const double lost_ns = LostNs(share, WorkingNs(*draft, *step));
    const double gap_ns = lost_ns / static_cast<double>(KernelsIn(*step));
    Step slower;
    for (const Item& item : *step) {
      slower.push_back(item);
      if (item.kind == Item::Kind::kKernel) slower.push_back(Gap(gap_ns));
    }
    *step = std::move(slower);
  });
  if (draft->usual_step_ns > 0) draft->usual_step_ns += LostNs(share, draft->usual_step_ns);
}

void PlantLateInput(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    constexpr double kBatchNs = 5'000;
    const Step late = {Gap(lost_ns),
                       Copy(COPY_HOST_TO_DEVICE, kBatchNs, kBatchNs * kPinnedBytesPerNs)};
    step->insert(step->begin(), late.begin(), late.end());
  });
}

void PlantReadbacks(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    constexpr size_t kReadbacks = 4;
    InsertEvenly({Copy(COPY_DEVICE_TO_HOST, kReadbackNs, 4), Gap(lost_ns / kReadbacks)}, kReadbacks,
                 step);
  });
}

void PlantPageableCopies(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    InsertEvenly({Copy(COPY_HOST_TO_DEVICE, lost_ns / 2, lost_ns / 2 * kPageableBytesPerNs, true)},
                 2, step);
  });
}

void PlantExposedCopies(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) {
    InsertEvenly({Copy(COPY_HOST_TO_DEVICE, lost_ns / 3, lost_ns / 3 * kPinnedBytesPerNs)}, 3,
                 step);
  });
}

void PlantExposedCommunication(double share, Draft* draft) {
  draft->barrier_ns = LostNs(share, StepNs(*draft, draft->FirstStep()));
}

void PlantStraggler(double share, Draft* draft) {
  if (share <= 0) return;
  draft->barrier_ns = kShortCollectiveNs;
  const double healthy_ns = StepNs(*draft, draft->FirstStep());
  for (Step& step : draft->ranks.back()) Stretch(1 + LostNs(share, healthy_ns) / healthy_ns, &step);
}

void PlantUnevenBatches(double share, Draft* draft) {
  if (share <= 0) return;
  draft->barrier_ns = kShortCollectiveNs;
  uint32_t mixed = 7;
  for (size_t i = 0; i < draft->ranks.front().size(); ++i) {
    mixed = mixed * 1664525u + 1013904223u;
    // The wait of a rank is half of twice the spread; its mean over steps is `share` of the time.
    const double spread = 2 * share / (1 - share) * ((mixed >> 8) / 16777216.0);
    const size_t longer = mixed >> 7 & 1;
    Enlarge(1 + spread, &draft->ranks[longer][i]);
    Enlarge(1 - spread, &draft->ranks[1 - longer][i]);
  }
}

void PlantFirstCalls(double share, Draft* draft) {
  if (share <= 0) return;
  std::vector<Step>& steps = draft->ranks.front();
  double healthy_ns = 0;
  for (const Step& step : steps) healthy_ns += StepNs(*draft, step);
  std::map<uint32_t, size_t> first_steps;  // by attention kernel, the first one in its step
  const auto attention = [draft](const Item& item) {
    return item.kind == Item::Kind::kKernel && IsAttention(draft->run.kernels[item.kernel]);
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto found = std::find_if(steps[i].begin(), steps[i].end(), attention);
    if (found != steps[i].end()) first_steps.try_emplace(found->kernel, i);
  }
  const double new_shapes = static_cast<double>(first_steps.size()) - 1;
  for (const auto& [kernel, step] : first_steps) {
    if (step == 0) continue;
    const auto at = std::find_if(steps[step].begin(), steps[step].end(), attention);
    steps[step].insert(at, Gap(LostNs(share, healthy_ns) / new_shapes));
  }
}

void PlantGapsBetweenSteps(double share, Draft* draft) {
  EachStep(share, draft, [](double lost_ns, Step* step) { step->push_back(Gap(lost_ns)); });
}

void PlantGapsInside(double share, Draft* draft) {
  EachStep(share, draft,
           [](double lost_ns, Step* step) { InsertEvenly({Gap(lost_ns / 3)}, 3, step); });
}

void PlantRareStalls(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr size_t kEvery = 20;
  for (std::vector<Step>& steps : draft->ranks) {
    const double lost_ns = kEvery * LostNs(share, StepNs(*draft, steps.front()));
    for (size_t i = kEvery; i < steps.size(); i += kEvery) {
      constexpr double kBatchNs = 5'000;
      const Step late = {Gap(lost_ns),
                         Copy(COPY_HOST_TO_DEVICE, kBatchNs, kBatchNs * kPinnedBytesPerNs)};
      steps[i].insert(steps[i].begin(), late.begin(), late.end());
    }
  }
}

void PlantCheckpoints(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr size_t kEvery = 40;
  for (std::vector<Step>& steps : draft->ranks) {
    const double lost_ns = kEvery * LostNs(share, StepNs(*draft, steps.front()));
    for (size_t i = kEvery - 1; i < steps.size(); i += kEvery) {
      const double copy_ns = 0.3 * lost_ns;
      steps[i].push_back(Copy(COPY_DEVICE_TO_HOST, copy_ns, copy_ns * kPageableBytesPerNs, true));
      steps[i].push_back(Gap(0.7 * lost_ns));
    }
  }
}

void PlantTinyKernels(double share, Draft* draft) {
  if (share <= 0) return;
  constexpr double kTinyNs = 4'000;
  for (std::vector<Step>& steps : draft->ranks) {
    for (Step& step : steps) {
      for (Item& item : step) {
        item.work_share = kTinyNs / item.time_ns;
        item.time_ns = kTinyNs;
      }
    }
    steps.resize(1000, steps.front());
  }
  PlantLaunchGaps(share, draft);
}

}  // namespace utlz
