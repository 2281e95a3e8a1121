#include "inject/record/cupti_clock.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz::agent {
namespace {

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

// The client's clock comes right before our last buffer is taken back from CUPTI.
TEST(CuptiClock, TimesOfBeforeTheCyclesAreKnownAtOnce) {
  CuptiClock clock;
  clock.Pair(kBeginNs, kBeginNs);
  clock.Pair(TicksAt(kBeginNs + 1), kBeginNs + 1);
  EXPECT_EQ(clock.ToRealtime(kBeginNs - kMillisecondNs), kBeginNs - kMillisecondNs);
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

constexpr uint64_t kLaterNs = kBeginNs + 20 * kMillisecondNs;

// Of a clock that is known: an interval of 5 µs in a record of this type.
template <typename Record>
void ExpectConverted(const CuptiClock& clock, uint32_t kind) {
  Record record{};
  record.kind = kind;
  record.start = TicksAt(kLaterNs);
  record.end = TicksAt(kLaterNs + 5000);
  clock.ConvertTimes(reinterpret_cast<cupti::RecordHead*>(&record));
  EXPECT_NEAR(static_cast<double>(record.start - kBeginNs), 20 * kMillisecondNs, 100) << kind;
  EXPECT_NEAR(static_cast<double>(record.end - record.start), 5000, 2) << kind;
}

TEST(CuptiClock, RecordsOfEveryKindAreConverted) {
  CuptiClock clock;
  clock.Pair(TicksAt(kBeginNs), kBeginNs);
  clock.Pair(TicksAt(kLaterNs), kLaterNs);
  ExpectConverted<cupti::KernelRecord>(clock, cupti::kKindConcurrentKernel);
  ExpectConverted<cupti::MemcpyRecord>(clock, cupti::kKindMemcpy);
  ExpectConverted<cupti::PeerCopyRecord>(clock, cupti::kKindMemcpy2);
  ExpectConverted<cupti::MemsetRecord>(clock, cupti::kKindMemset);
  ExpectConverted<cupti::ApiRecord>(clock, cupti::kKindDriver);
  ExpectConverted<cupti::ApiRecord>(clock, cupti::kKindRuntime);
  cupti::MarkerRecord marker{};
  marker.kind = cupti::kKindMarker;
  marker.timestamp = TicksAt(kLaterNs);
  clock.ConvertTimes(reinterpret_cast<cupti::RecordHead*>(&marker));
  EXPECT_NEAR(static_cast<double>(marker.timestamp - kBeginNs), 20 * kMillisecondNs, 100);
}

TEST(CuptiClock, ARateTakesTenMilliseconds) {
  CuptiClock clock;
  clock.Pair(TicksAt(kBeginNs), kBeginNs);
  clock.Pair(TicksAt(kBeginNs + 9 * kMillisecondNs), kBeginNs + 9 * kMillisecondNs);
  EXPECT_FALSE(clock.Known());
  clock.Pair(TicksAt(kBeginNs + 10 * kMillisecondNs), kBeginNs + 10 * kMillisecondNs);
  EXPECT_TRUE(clock.Known());
}

TEST(CuptiClock, IsMeasuredAnewWhereEitherClockJumps) {
  for (const uint64_t jump_ms : {500, 1500}) {
    CuptiClock clock;
    clock.Pair(TicksAt(kBeginNs), kBeginNs);
    clock.Pair(TicksAt(kLaterNs), kLaterNs);
    // The time of day is set; the cycles go on.
    clock.Pair(TicksAt(kLaterNs + kMillisecondNs), kLaterNs + jump_ms * kMillisecondNs);
    EXPECT_EQ(clock.Known(), jump_ms < 1000) << jump_ms;
  }
  CuptiClock clock;
  clock.Pair(TicksAt(kBeginNs), kBeginNs);
  clock.Pair(TicksAt(kLaterNs), kLaterNs);
  clock.Pair(TicksAt(kLaterNs) - 1, kLaterNs + kMillisecondNs);
  EXPECT_FALSE(clock.Known()) << "cycles that went back";
}

TEST(CuptiClock, TimesHoursAwayAreNotAccepted) {
  constexpr uint64_t kHourNs = 3600'000 * kMillisecondNs;
  CuptiClock clock;
  clock.Pair(TicksAt(kBeginNs), kBeginNs);
  clock.Pair(TicksAt(kLaterNs), kLaterNs);
  EXPECT_EQ(clock.ToRealtime(TicksAt(kLaterNs + kHourNs + kHourNs / 10)), 0u);
  EXPECT_NE(clock.ToRealtime(TicksAt(kLaterNs + kHourNs - kHourNs / 10)), 0u);
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
}  // namespace utlz::agent
