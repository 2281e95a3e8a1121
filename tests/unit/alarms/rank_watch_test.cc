#include "collector/alarms/rank_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Ranks of one job, each on its own GPU. Shares of the time.
class Ranks {
 public:
  explicit Ranks(uint32_t count) {
    readings_.now_ns = 1'000 * kSecondNs;
    for (uint32_t rank = 0; rank < count; ++rank) {
      readings_.devices.push_back({.uuid = "GPU-" + std::to_string(rank)});
      readings_.processes.push_back(
          {.source = rank + 1, .pid = 100 + rank, .rank = rank, .device = rank});
    }
  }

  void Run(int seconds, uint32_t lagging, double more_compute, double less_communication,
           RankWatch* watch) {
    for (int i = 0; i < seconds; ++i) {
      readings_.now_ns += kSecondNs;
      for (ProcessReading& process : readings_.processes) {
        const bool lags = process.rank == lagging;
        process.known_ns = readings_.now_ns;
        process.compute_ns += 1e9 * (0.6 + (lags ? more_compute : 0));
        process.communication_ns += 1e9 * (0.3 - (lags ? less_communication : 0));
      }
      conditions_ = watch->Look(readings_);
    }
  }
  const Conditions& conditions() const { return conditions_; }

 private:
  Readings readings_;
  Conditions conditions_;
};

TEST(RankWatch, NamesTheOneThatTheOthersWaitFor) {
  for (const uint32_t count : {2u, 8u}) {
    Ranks ranks(count);
    RankWatch watch;
    ranks.Run(60, 1, 0.1, 0.1, &watch);
    ASSERT_THAT(ranks.conditions(), SizeIs(1));
    const Condition& condition = ranks.conditions()[0];
    EXPECT_EQ(condition.kind, AlarmKind::kRankLags);
    EXPECT_EQ(condition.rank, 1u);
    EXPECT_EQ(condition.pid, 101u);
    EXPECT_EQ(condition.device_uuid, "GPU-1");
    EXPECT_NEAR(condition.value.value(), 0.1, 0.01);
    EXPECT_THAT(condition.text, HasSubstr("its kernels take 10.0 % more of it"));
  }
}

TEST(RankWatch, TellsALateLaunchFromSlowKernels) {
  Ranks ranks(4);
  RankWatch watch;
  ranks.Run(60, 2, 0, 0.1, &watch);
  ASSERT_THAT(ranks.conditions(), SizeIs(1));
  EXPECT_THAT(ranks.conditions()[0].text, HasSubstr("it launches late"));
}

TEST(RankWatch, ComesAndGoes) {
  Ranks ranks(4);
  RankWatch watch;
  ranks.Run(60, 2, 0, 0, &watch);
  EXPECT_THAT(ranks.conditions(), IsEmpty());
  ranks.Run(20, 2, 0.1, 0.1, &watch);
  EXPECT_THAT(ranks.conditions(), IsEmpty()) << "not in a row yet";
  ranks.Run(30, 2, 0.1, 0.1, &watch);
  EXPECT_THAT(ranks.conditions(), SizeIs(1));
  ranks.Run(20, 2, 0, 0, &watch);
  EXPECT_THAT(ranks.conditions(), IsEmpty());
}

TEST(RankWatch, OneAloneLagsNobody) {
  Ranks ranks(1);
  RankWatch watch;
  ranks.Run(60, 0, 0.1, 0.1, &watch);
  EXPECT_THAT(ranks.conditions(), IsEmpty());
}

}  // namespace
}  // namespace utlz
