#include "bench/diagnosis/draft_timeline.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace utlz {
namespace {

constexpr uint32_t kStream = 7;
constexpr uint32_t kOtherStream = 20;
constexpr double kNoise = 0.01;

bool TakesItsStreamsTime(const Item& item) {
  return item.kind == Item::Kind::kKernel || item.kind == Item::Kind::kGap ||
         item.kind == Item::Kind::kCopy;
}

// One process's stream of time.
class Timeline {
 public:
  Timeline(uint32_t seed, const Draft& draft, PlannedRank* rank)
      : mixed_(seed), draft_(draft), rank_(rank) {}

  void Play(const Step& step, uint32_t graph);
  // `others`: collectives of the step so far, one list a rank, in the same order.
  std::vector<size_t>& besides() { return besides_; }
  PlannedRank& rank() { return *rank_; }
  void Launch(uint32_t kernel, double time_ns, uint32_t stream, uint32_t graph, double work_share);
  void Copy(const Item& item, uint32_t stream);

  double now_ns = kStartUpNs;

 private:
  double Noisy(double time_ns) {
    mixed_ = mixed_ * 1664525u + 1013904223u;
    return time_ns * (1 + kNoise * ((mixed_ >> 8) / 8388608.0 - 1));
  }

  uint32_t mixed_;
  const Draft& draft_;
  PlannedRank* rank_;
  std::vector<size_t> besides_;
};

void Timeline::Launch(uint32_t kernel, double time_ns, uint32_t stream, uint32_t graph,
                      double work_share) {
  rank_->launches.push_back({.start_ns = static_cast<uint64_t>(now_ns),
                             .duration_ns = static_cast<uint64_t>(time_ns),
                             .kernel = kernel,
                             .stream = stream,
                             .graph = graph,
                             .work_share = work_share});
}

void Timeline::Copy(const Item& item, uint32_t stream) {
  rank_->copies.push_back({.start_ns = static_cast<uint64_t>(now_ns),
                           .duration_ns = static_cast<uint64_t>(item.time_ns),
                           .bytes = item.bytes,
                           .kind = item.copy,
                           .pageable = item.pageable,
                           .stream = stream});
}

void Timeline::Play(const Step& step, uint32_t graph) {
  for (const Item& item : step) {
    switch (item.kind) {
      case Item::Kind::kGap:
        now_ns += item.time_ns;
        break;
      case Item::Kind::kBeside:
        besides_.push_back(rank_->launches.size());
        Launch(item.kernel, item.time_ns, kOtherStream, 0, 1);
        break;
      case Item::Kind::kOverlapped:
        Launch(item.kernel, Noisy(item.time_ns), kOtherStream, 0, item.work_share);
        break;
      case Item::Kind::kCopyOverlapped:
        Copy(item, kOtherStream);
        break;
      case Item::Kind::kCopy:
        Copy(item, kStream);
        now_ns += item.time_ns;
        break;
      case Item::Kind::kKernel: {
        const double time_ns = Noisy(item.time_ns);
        Launch(item.kernel, time_ns, kStream, graph, item.work_share);
        now_ns += time_ns + draft_.turnaround_ns;
        break;
      }
    }
  }
}

// Nobody's kernel ends before the last one's has begun and moved its data.
void EndTogether(std::vector<Timeline>* ranks) {
  for (size_t i = 0; i < ranks->front().besides().size(); ++i) {
    uint64_t end_ns = 0;
    for (Timeline& rank : *ranks) {
      const PlannedLaunch& launch = rank.rank().launches[rank.besides()[i]];
      end_ns = std::max(end_ns, launch.start_ns + launch.duration_ns);
    }
    for (Timeline& rank : *ranks) {
      PlannedLaunch& launch = rank.rank().launches[rank.besides()[i]];
      launch.duration_ns = end_ns - launch.start_ns;
    }
  }
  for (Timeline& rank : *ranks) rank.besides().clear();
}

void MeetAtBarrier(uint32_t kernel, double time_ns, std::vector<Timeline>* ranks) {
  double end_ns = 0;
  for (const Timeline& rank : *ranks) end_ns = std::max(end_ns, rank.now_ns + time_ns);
  for (Timeline& rank : *ranks) {
    rank.Launch(kernel, end_ns - rank.now_ns, kOtherStream, 0, 1);
    rank.now_ns = end_ns;
  }
}

uint32_t CollectiveOf(const PlannedRun& run) {
  for (uint32_t i = 0; i < run.kernels.size(); ++i) {
    if (run.kernels[i].Is("ncclDevKernel")) return i;
  }
  return 0;
}

}  // namespace

double StepNs(const Draft& draft, const Step& step) {
  double time_ns = draft.barrier_ns;
  for (const Item& item : step) {
    if (!TakesItsStreamsTime(item)) continue;
    time_ns += item.time_ns + (item.kind == Item::Kind::kKernel ? draft.turnaround_ns : 0);
  }
  return time_ns;
}

PlannedRun Planned(Draft draft, uint32_t seed) {
  const uint32_t collective = CollectiveOf(draft.run);
  std::vector<Timeline> ranks;
  for (PlannedRank& rank : draft.run.ranks) ranks.emplace_back(seed, draft, &rank);
  for (Timeline& rank : ranks) rank.Play(draft.start_up, 0);
  draft.run.steps_start_ns = static_cast<uint64_t>(ranks.front().now_ns);
  for (size_t step = 0; step < draft.ranks.front().size(); ++step) {
    const uint32_t graph = draft.run.graphs ? static_cast<uint32_t>(step + 1) : 0;
    for (size_t i = 0; i < ranks.size(); ++i) ranks[i].Play(draft.ranks[i][step], graph);
    if (ranks.size() < 2 || draft.run.one_gpu) continue;
    EndTogether(&ranks);
    if (draft.barrier_ns > 0) MeetAtBarrier(collective, draft.barrier_ns, &ranks);
  }
  for (const Timeline& rank : ranks) {
    draft.run.end_ns = std::max(draft.run.end_ns, static_cast<uint64_t>(rank.now_ns));
  }
  return std::move(draft.run);
}

}  // namespace utlz
