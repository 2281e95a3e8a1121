#include "tools/top/screen/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/top/example_snapshot.h"

namespace utlz::top {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(History, CondensesTheNewest) {
  EXPECT_THAT(Condensed({1, 2, 3, 5, 7}, 3, 2),
              ElementsAre(Optional(1), Optional(2.5), Optional(6)));
  EXPECT_THAT(Condensed({std::nullopt, 4}, 2, 1), ElementsAre(std::nullopt, Optional(4)));
}

TEST(History, OfSeveralGpusIsTheirMean) {
  Snapshot snapshot = ExampleSnapshot(2);
  snapshot.gpus[0].power_watts = 100;
  snapshot.gpus[1].power_watts = 300;
  History history;
  history.Add(snapshot);
  snapshot.gpus[1].power_watts.reset();
  history.Add(snapshot);
  EXPECT_THAT(history.OfGpus({0, 1}, GpuValue::kPower, 2, 1),
              ElementsAre(Optional(200), Optional(100)));
}

TEST(History, WhatWasAwayLeavesAGap) {
  Snapshot with = ExampleSnapshot();
  const Snapshot without = ExampleSnapshot(1, false);
  History history;
  history.Add(with);
  history.Add(without);
  history.Add(with);
  EXPECT_THAT(history.OfProcess(1234, JobValue::kHfu, 3, 1),
              ElementsAre(Optional(0.375), std::nullopt, Optional(0.375)));
  EXPECT_THAT(history.OfWork({99, WorkKind::kKernels, 8}, WorkValue::kTimeShare, 3, 1),
              ElementsAre(Optional(0.25), std::nullopt, Optional(0.25)));
  EXPECT_THAT(history.OfWork({98, WorkKind::kKernels, 8}, WorkValue::kTimeShare, 1, 1),
              ElementsAre(std::nullopt));
}

TEST(History, ForgetsWhatIsLongGone) {
  History history;
  history.Add(ExampleSnapshot());
  const Snapshot without = ExampleSnapshot(1, false);
  for (size_t i = 0; i < History::kTicks + 2; ++i) history.Add(without);
  EXPECT_THAT(history.OfProcess(1234, JobValue::kHfu, 1, 1), ElementsAre(std::nullopt));
}

}  // namespace
}  // namespace utlz::top
