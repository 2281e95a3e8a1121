#include "collector/timeline/activity_totals.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr ActivityMask kNothing = 0;
constexpr ActivityMask kKernel = MaskOf(ActivityKind::kCompute);
constexpr ActivityMask kNccl = MaskOf(ActivityKind::kCommunication);
constexpr ActivityMask kUpload = MaskOf(ActivityKind::kHostToDevice);
constexpr ActivityMask kReadback = MaskOf(ActivityKind::kDeviceToHost);

TimeCategory CategoryOfGap(uint64_t gap_ns, ActivityMask before, ActivityMask after) {
  return CategoryOf({.start_ns = 1000, .end_ns = 1000 + gap_ns, .mask = 0, .next = after}, before);
}

TEST(TimeCategoryTest, GapsByTheirLengthAndWhatLiesAroundThem) {
  EXPECT_EQ(CategoryOfGap(2'000, kKernel, kKernel), TimeCategory::kTurnaroundGap);
  EXPECT_EQ(CategoryOfGap(2'001, kKernel, kKernel), TimeCategory::kLaunchGap);
  EXPECT_EQ(CategoryOfGap(100'000, kKernel, kUpload), TimeCategory::kLaunchGap);
  EXPECT_EQ(CategoryOfGap(100'001, kKernel, kUpload), TimeCategory::kUploadGap);
  EXPECT_EQ(CategoryOfGap(100'001, kUpload, kKernel), TimeCategory::kOtherGap);
  EXPECT_EQ(CategoryOfGap(2'000, kReadback, kKernel), TimeCategory::kTurnaroundGap);
  EXPECT_EQ(CategoryOfGap(2'001, kReadback, kKernel), TimeCategory::kReadbackGap);
  EXPECT_EQ(CategoryOfGap(5'000'000, kReadback, kUpload), TimeCategory::kReadbackGap);
  for (const ActivityKind kind :
       {ActivityKind::kHostToDevicePageable, ActivityKind::kDeviceToHostPageable}) {
    EXPECT_EQ(CategoryOfGap(200'000, MaskOf(kind), MaskOf(kind)),
              kind == ActivityKind::kHostToDevicePageable ? TimeCategory::kUploadGap
                                                          : TimeCategory::kReadbackGap);
  }
}

TEST(TimeCategoryTest, WhatRunsAtOnceIsOfTheFirstThatCounts) {
  const auto of = [](ActivityMask mask) {
    return CategoryOf({.start_ns = 0, .end_ns = 1, .mask = mask}, kNothing);
  };
  const ActivityMask pageable = MaskOf(ActivityKind::kDeviceToHostPageable);
  const ActivityMask device = MaskOf(ActivityKind::kDeviceToDevice);
  const ActivityMask all = kActivityMasks - 1;
  EXPECT_EQ(of(all), TimeCategory::kUntraced);
  EXPECT_EQ(of(all & ~kUntracedMask), TimeCategory::kCompute);
  EXPECT_EQ(of(kNccl | kUpload | pageable), TimeCategory::kCommunication);
  EXPECT_EQ(of(pageable | kUpload | device), TimeCategory::kPageableCopy);
  EXPECT_EQ(of(MaskOf(ActivityKind::kHostToDevicePageable)), TimeCategory::kPageableCopy);
  EXPECT_EQ(of(kUpload | device), TimeCategory::kPinnedCopy);
  EXPECT_EQ(of(kReadback), TimeCategory::kPinnedCopy);
  EXPECT_EQ(of(device | MaskOf(ActivityKind::kMemset)), TimeCategory::kOtherCopy);
}

// A kernel of 1 ms, a readback of 1 ms, nothing for 300 ms, and a kernel of 2 ms.
ActivityTotals MadeUpLedger() {
  constexpr uint64_t kMs = 1'000'000;
  ActivityTotals ledger;
  ledger.Add({.start_ns = 1000 * kMs, .end_ns = 1001 * kMs, .mask = kKernel});
  ledger.Add({.start_ns = 1001 * kMs, .end_ns = 1002 * kMs, .mask = kReadback});
  ledger.Add({.start_ns = 1002 * kMs, .end_ns = 1302 * kMs, .mask = 0, .next = kUpload});
  ledger.Add({.start_ns = 1302 * kMs, .end_ns = 1304 * kMs, .mask = kKernel});
  return ledger;
}

TEST(ActivityTotalsTest, SumsEveryCategory) {
  const StretchContent all = MadeUpLedger().Between(0, UINT64_MAX);
  EXPECT_EQ(all.KernelNs(), 3e6);
  EXPECT_EQ(all.CopyNs(), 1e6);
  EXPECT_EQ(all.IdleNs(), 300e6);
  EXPECT_EQ(all.TimeNs(TimeCategory::kReadbackGap), 300e6) << "what ran last before it";
  EXPECT_EQ(all.Gaps(TimeCategory::kReadbackGap), 1);
  EXPECT_EQ(all.UntracedNs(), 0);
}

TEST(ActivityTotalsTest, WhatLiesBetweenPointsIsSpreadEvenly) {
  const ActivityTotals ledger = MadeUpLedger();
  const StretchContent part = ledger.Between(1'000'250'000, 1'077'000'000);
  EXPECT_NEAR(part.KernelNs(), 0.75e6, 1);
  EXPECT_NEAR(part.CopyNs(), 1e6, 1);
  EXPECT_NEAR(part.IdleNs(), 75e6, 1);
  EXPECT_NEAR(part.Gaps(TimeCategory::kReadbackGap), 0.25, 1e-6);
  EXPECT_EQ(ledger.Between(0, 1'000'000'000).KernelNs(), 0) << "before the first point";
  EXPECT_EQ(ledger.Between(1'304'000'000, UINT64_MAX).KernelNs(), 0) << "after the last one";
}

TEST(ActivityTotalsTest, ListsLongGaps) {
  ActivityTotals ledger = MadeUpLedger();
  ASSERT_EQ(ledger.long_gaps().size(), 1u);
  EXPECT_EQ(ledger.long_gaps()[0].start_ns, 1'002'000'000u);
  EXPECT_EQ(ledger.long_gaps()[0].end_ns, 1'302'000'000u);
  EXPECT_EQ(ledger.long_gaps()[0].category, TimeCategory::kReadbackGap);
  const uint64_t now_ns = 1'304'000'000;
  ledger.Add({.start_ns = now_ns, .end_ns = now_ns + 19'999'999, .mask = 0});
  EXPECT_EQ(ledger.long_gaps().size(), 1u);
  ledger.Add({.start_ns = now_ns + 19'999'999, .end_ns = now_ns + 400'000'000, .mask = kKernel});
  EXPECT_EQ(ledger.long_gaps().size(), 1u) << "kernels are no gap, however long";
}

TEST(ActivityTotalsTest, KeepsItsSumsWhenItThinsItself) {
  ActivityTotals ledger;
  ConcurrencyTracker sweep;
  sweep.SetObserver([&](const ActivitySegment& segment) { ledger.Add(segment); });
  const uint64_t launches = 4 * ActivityTotals::kMaxPoints;
  for (uint64_t i = 0; i < launches; ++i) {
    const uint64_t duration_ns = i == launches / 2 ? 90 : 40;
    const Activity activity = {.start_ns = 1000 + 100 * i,
                               .end_ns = 1000 + 100 * i + duration_ns,
                               .kernel = i == launches / 2 ? 7u : 3u,
                               .stream = 0,
                               .context = 0,
                               .source = 1,
                               .kind = ActivityKind::kCompute};
    sweep.Add(activity);
    ledger.AddStart(activity);
  }
  sweep.AdvanceTo(1000 + 100 * launches);
  const uint64_t half_ns = 1000 + 50 * launches;
  const StretchContent first = ledger.Between(0, half_ns);
  EXPECT_NEAR(first.launches, static_cast<double>(launches) / 2, 20);
  EXPECT_NEAR(first.KernelNs(), 20.0 * static_cast<double>(launches), 1000);
  EXPECT_EQ(ledger.Between(half_ns, UINT64_MAX).longest_kernel, 7u);
  EXPECT_EQ(ledger.Between(half_ns, UINT64_MAX).longest_ns, 90u);
  EXPECT_EQ(first.longest_kernel, 3u);
}

// The longest of the first few launches and of the last few, however often points were dropped.
TEST(ActivityTotalsTest, KnowsTheLongestLaunchesAtBothEnds) {
  for (const uint64_t longest : {0, 1, 2, 3}) {
    ActivityTotals ledger;
    ConcurrencyTracker sweep;
    sweep.SetObserver([&](const ActivitySegment& segment) { ledger.Add(segment); });
    const uint64_t launches = 2 * ActivityTotals::kMaxPoints + 1;
    for (uint64_t i = 0; i < launches; ++i) {
      const bool first = i == longest;
      const bool last = i == launches - 1 - longest;
      const Activity activity = {.start_ns = 1000 + 100 * i,
                                 .end_ns = 1000 + 100 * i + (first || last ? 90 : 40),
                                 .kernel = first  ? 7u
                                           : last ? 8u
                                                  : 3u,
                                 .stream = 0,
                                 .context = 0,
                                 .source = 1,
                                 .kind = ActivityKind::kCompute};
      sweep.Add(activity);
      ledger.AddStart(activity);
    }
    sweep.AdvanceTo(1000 + 100 * launches);
    const uint64_t middle_ns = 1000 + 50 * launches;
    EXPECT_EQ(ledger.Between(0, middle_ns).longest_kernel, 7u) << longest;
    EXPECT_EQ(ledger.Between(middle_ns, UINT64_MAX).longest_kernel, 8u) << longest;
    EXPECT_EQ(ledger.Between(1000 + 100 * launches, UINT64_MAX).longest_kernel, kNoKernel);
  }
}

// Enough segments to lose points; in one ledger every hundredth kernel comes in two halves.
TEST(ActivityTotalsTest, WhatIsToldInTwoHalvesIsAsIfToldAtOnce) {
  ActivityTotals whole;
  ActivityTotals halved;
  uint64_t now_ns = 1000;
  for (size_t i = 0; i < 3 * ActivityTotals::kMaxPoints / 2; ++i) {
    const uint64_t middle_ns = now_ns + 500 + i % 7;
    const uint64_t end_ns = middle_ns + 800 + i % 11;
    Activity launch;
    launch.start_ns = now_ns;
    launch.end_ns = end_ns;
    launch.kernel = 1;
    whole.Add({.start_ns = now_ns, .end_ns = end_ns, .mask = kKernel, .next = kKernel});
    if (i % 100 == 0) {
      halved.Add({.start_ns = now_ns, .end_ns = middle_ns, .mask = kKernel, .next = kKernel});
      halved.Add({.start_ns = middle_ns, .end_ns = end_ns, .mask = kKernel, .next = kKernel});
    } else {
      halved.Add({.start_ns = now_ns, .end_ns = end_ns, .mask = kKernel, .next = kKernel});
    }
    whole.AddStart(launch);
    halved.AddStart(launch);
    now_ns = end_ns + 100 + i % 13;
    for (ActivityTotals* ledger : {&whole, &halved}) {
      ledger->Add({.start_ns = end_ns, .end_ns = now_ns, .mask = 0, .next = kKernel});
    }
  }
  for (uint64_t from_ns = 1234; from_ns < now_ns; from_ns += now_ns / 17) {
    const StretchContent a = whole.Between(from_ns, from_ns + 1'234'567);
    const StretchContent b = halved.Between(from_ns, from_ns + 1'234'567);
    EXPECT_EQ(a.KernelNs(), b.KernelNs()) << from_ns;
    EXPECT_EQ(a.IdleNs(), b.IdleNs());
    EXPECT_EQ(a.launches, b.launches);
    EXPECT_EQ(a.longest_ns, b.longest_ns);
  }
}

}  // namespace
}  // namespace utlz
