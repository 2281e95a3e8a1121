#include "inject/cupti_clock.h"

#include <gtest/gtest.h>

namespace utlz::inject {
namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;
constexpr uint64_t kBeginNs = 1'795'000'000'000'000'000;
constexpr double kTicksPerNs = 2.1;

uint64_t TicksAt(uint64_t realtime_ns) {
  return 126'000'000'000 +
         static_cast<uint64_t>(static_cast<double>(realtime_ns - kBeginNs) * kTicksPerNs);
}

TEST(CuptiClock, RealtimeIsLeftAlone) {
  CuptiClock clock;
  clock.Pair(kBeginNs - 50'000, kBeginNs);
  EXPECT_TRUE(clock.Known());
  EXPECT_FALSE(clock.foreign());
  EXPECT_EQ(clock.ToRealtime(kBeginNs + 7), kBeginNs + 7);
}

TEST(CuptiClock, CyclesAreUnknownUntilTheirRateIs) {
  CuptiClock clock;
  clock.Pair(kBeginNs, kBeginNs);
  clock.Pair(TicksAt(kBeginNs + 1), kBeginNs + 1);
  EXPECT_TRUE(clock.foreign());
  EXPECT_FALSE(clock.Known());
  EXPECT_EQ(clock.ToRealtime(TicksAt(kBeginNs)), 0u);
  clock.Pair(TicksAt(kBeginNs + 20 * kMillisecondNs), kBeginNs + 20 * kMillisecondNs);
  EXPECT_TRUE(clock.Known());
}

TEST(CuptiClock, ConvertsCyclesForMinutes) {
  CuptiClock clock;
  for (uint64_t ms = 0; ms <= 300'000; ms += 20) {
    const uint64_t now_ns = kBeginNs + ms * kMillisecondNs;
    // The readings of a pair lie some hundreds of nanoseconds apart.
    clock.Pair(TicksAt(now_ns + ms % 700), now_ns);
  }
  for (const uint64_t before_ms : {0, 5, 1000, 3000}) {
    const uint64_t time_ns = kBeginNs + (300'000 - before_ms) * kMillisecondNs;
    EXPECT_NEAR(static_cast<double>(clock.ToRealtime(TicksAt(time_ns)) - time_ns + 10'000), 10'000,
                1'000)
        << before_ms;
  }
}

TEST(CuptiClock, TimesInsideRecordsAreConverted) {
  CuptiClock clock;
  clock.Pair(TicksAt(kBeginNs), kBeginNs);
  clock.Pair(TicksAt(kBeginNs + 20 * kMillisecondNs), kBeginNs + 20 * kMillisecondNs);
  cupti::KernelRecord kernel{};
  kernel.kind = cupti::kKindConcurrentKernel;
  kernel.start = TicksAt(kBeginNs + kMillisecondNs);
  kernel.end = TicksAt(kBeginNs + kMillisecondNs + 5000);
  clock.ConvertTimes(reinterpret_cast<cupti::RecordHead*>(&kernel));
  EXPECT_NEAR(static_cast<double>(kernel.end - kernel.start), 5000, 2);
  EXPECT_NEAR(static_cast<double>(kernel.start - kBeginNs), kMillisecondNs, 100);
  kernel.start = kernel.end = 0;
  clock.ConvertTimes(reinterpret_cast<cupti::RecordHead*>(&kernel));
  EXPECT_EQ(kernel.start, 0u) << "no time is no time on any clock";
  kernel.start = kBeginNs + 3;
  clock.ConvertTimes(reinterpret_cast<cupti::RecordHead*>(&kernel));
  EXPECT_EQ(kernel.start, kBeginNs + 3) << "from before the other clock came";
}

TEST(CuptiClock, AnotherClockAgainIsMeasuredAnew) {
  CuptiClock clock;
  clock.Pair(TicksAt(kBeginNs), kBeginNs);
  clock.Pair(TicksAt(kBeginNs + 20 * kMillisecondNs), kBeginNs + 20 * kMillisecondNs);
  clock.Pair(77, kBeginNs + 40 * kMillisecondNs);
  EXPECT_FALSE(clock.Known());
  clock.Pair(kBeginNs + 60 * kMillisecondNs, kBeginNs + 60 * kMillisecondNs);
  EXPECT_TRUE(clock.Known());
  EXPECT_FALSE(clock.foreign());
}

}  // namespace
}  // namespace utlz::inject
