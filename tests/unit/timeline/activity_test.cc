#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "collector/timeline/activity_sorter.h"
#include "collector/timeline/concurrency_tracker.h"

namespace utlz {
namespace {

Activity At(uint64_t start_ns, uint64_t end_ns, ActivityKind kind = ActivityKind::kCompute) {
  return {.start_ns = start_ns,
          .end_ns = end_ns,
          .kernel = 0,
          .stream = 0,
          .context = 0,
          .source = 0,
          .kind = kind};
}

// Every nanosecond looked at by itself.
std::map<ActivityMask, uint64_t> BruteForce(const std::vector<Activity>& activities) {
  uint64_t first = UINT64_MAX;
  uint64_t last = 0;
  for (const Activity& activity : activities) {
    if (activity.end_ns == activity.start_ns) continue;
    first = std::min(first, activity.start_ns);
    last = std::max(last, activity.end_ns);
  }
  std::map<ActivityMask, uint64_t> time;
  for (uint64_t now = first; now < last; ++now) {
    ActivityMask mask = 0;
    for (const Activity& activity : activities) {
      if (activity.start_ns <= now && now < activity.end_ns) {
        mask = static_cast<ActivityMask>(mask | MaskOf(activity.kind));
      }
    }
    ++time[mask];
  }
  return time;
}

TEST(ConcurrencyTrackerTest, AgreesWithLookingAtEveryNanosecond) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    ActivitySorter queue;
    std::vector<Activity> activities;
    for (int i = 0; i < 20; ++i) {
      const uint64_t start = 1000 + random() % 400;
      activities.push_back(At(start, start + random() % 60, ActivityKind(random() % 9)));
      queue.Add(activities.back());
    }
    ConcurrencyTracker sweep;
    // Released in steps, as a watermark does.
    for (uint64_t watermark = 1000; watermark <= 1600; watermark += 1 + random() % 100) {
      uint64_t reached = 0;
      for (const Activity& activity : queue.Release(watermark, &reached)) sweep.Add(activity);
      sweep.AdvanceTo(reached);
    }
    uint64_t reached = 0;
    for (const Activity& activity : queue.Release(UINT64_MAX, &reached)) sweep.Add(activity);
    sweep.AdvanceTo(reached);
    const auto expected = BruteForce(activities);
    uint64_t kernels = 0;
    uint64_t exposed = 0;
    for (const auto& [mask, time] : expected) {
      if ((mask & kKernelMask) != 0) kernels += time;
      if ((mask & kCopyMask) != 0 && (mask & kKernelMask) == 0) exposed += time;
    }
    ASSERT_EQ(sweep.TimeNs(kKernelMask), kernels) << "round " << round;
    ASSERT_EQ(sweep.TimeNs(kCopyMask, kKernelMask), exposed) << "round " << round;
    ASSERT_EQ(sweep.IdleNs(), expected.contains(0) ? expected.at(0) : 0) << "round " << round;
  }
}

TEST(ConcurrencyTrackerTest, SegmentsFollowEachOtherWithoutHoles) {
  ConcurrencyTracker sweep;
  std::vector<ActivitySegment> segments;
  sweep.SetObserver([&](const ActivitySegment& segment) { segments.push_back(segment); });
  sweep.Add(At(100, 200));
  sweep.Add(At(150, 300, ActivityKind::kHostToDevice));
  sweep.Add(At(400, 500));
  sweep.AdvanceTo(UINT64_MAX);
  ASSERT_EQ(segments.size(), 5u);
  for (size_t i = 1; i < segments.size(); ++i) {
    EXPECT_EQ(segments[i].start_ns, segments[i - 1].end_ns);
  }
  EXPECT_EQ(segments[3].mask, 0);
  EXPECT_EQ(segments.back().end_ns, 500u);
}

TEST(ConcurrencyTrackerTest, ALateActivityReplacesIdleTime) {
  ConcurrencyTracker sweep;
  sweep.Add(At(100, 200));
  sweep.Add(At(900, 1000));
  sweep.AdvanceTo(1000);
  sweep.Add(At(300, 500));
  EXPECT_EQ(sweep.TimeNs(kKernelMask), 400u);
  EXPECT_EQ(sweep.IdleNs(), 500u);
}

TEST(ActivitySorterTest, HoldsBackWhatMayBeOvertaken) {
  ActivitySorter queue;
  queue.Add(At(300, 400));
  queue.Add(At(100, 200));
  uint64_t reached = 0;
  const auto released = queue.Release(250, &reached);
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].start_ns, 100u);
  EXPECT_EQ(reached, 250u);
  EXPECT_EQ(queue.held(), 1u);
}

TEST(ActivitySorterTest, ReleasesEachOnceInOrderOfStart) {
  std::mt19937_64 random(5);
  ActivitySorter queue;
  std::vector<uint64_t> added, released;
  uint64_t reached = 0;
  for (uint64_t now = 1000; now < 9000; now += random() % 20) {
    // Two processes, of which one is behind, and sometimes something late.
    const uint64_t start = now - random() % 2 * 300 - (random() % 50 == 0 ? 200 : 0);
    if (start >= reached) {
      queue.Add(At(start, start + 10));
      added.push_back(start);
    }
    if (random() % 7 != 0) continue;
    for (const Activity& activity : queue.Release(now - 400, &reached)) {
      released.push_back(activity.start_ns);
    }
    ASSERT_EQ(queue.held(), added.size() - released.size());
  }
  for (const Activity& activity : queue.Release(UINT64_MAX, &reached)) {
    released.push_back(activity.start_ns);
  }
  std::sort(added.begin(), added.end());
  EXPECT_EQ(released, added);
}

TEST(ActivitySorterTest, IsBounded) {
  ActivitySorter queue(100);
  uint64_t released = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    queue.Add(At(1000 - i, 2000));
    uint64_t reached = 0;
    if (queue.full()) released += queue.Release(0, &reached).size();
    ASSERT_LE(queue.held(), 100u);
  }
  EXPECT_GT(released, 800u);
}

}  // namespace
}  // namespace utlz
