// Which launch site follows which.
#include "collector/run/eager_order.h"

#include <gtest/gtest.h>

#include "tests/unit/run_state/eager_passes.h"

namespace utlz {
namespace {

std::vector<uint32_t> FollowersOf(const EagerOrder& order, uint32_t kernel) {
  std::vector<uint32_t> kernels;
  for (const EagerOrder::Site& site : order.sites()) {
    if (site.kernel != kernel) continue;
    for (const uint32_t next : site.followers) kernels.push_back(order.sites()[next].kernel);
  }
  return kernels;
}

TEST(EagerOrderTest, EqualPassesAddNothing) {
  std::mt19937 random(1);
  const Pass pass = MakePass(&random, 12);
  EagerOrder order;
  AddPass(pass, &order);
  ASSERT_EQ(order.sites().size(), pass.size());
  for (int i = 0; i < 100; ++i) AddPass(pass, &order);
  EXPECT_EQ(order.sites().size(), pass.size());
  for (const EagerOrder::Site& site : order.sites()) EXPECT_LE(site.followers.size(), 1u);
}

TEST(EagerOrderTest, AGraphEndsAChain) {
  EagerOrder order;
  AddPass({{10, 1}, {11, 2}}, &order);
  AddPass({{12, 3}, {13, 4}}, &order);
  EXPECT_EQ(FollowersOf(order, 10), std::vector<uint32_t>{11});
  EXPECT_TRUE(FollowersOf(order, 11).empty());
}

TEST(EagerOrderTest, UntracedTimeEndsAllChains) {
  EagerOrder order;
  order.Add(0, ActivityOf({10, 1}));
  Activity untraced = ActivityOf({kNoKernel, 0});
  untraced.kind = ActivityKind::kUntraced;
  order.Add(0, untraced);
  order.Add(0, ActivityOf({11, 2}));
  EXPECT_TRUE(FollowersOf(order, 10).empty());
}

TEST(EagerOrderTest, FollowsOnTheStreamToo) {
  EagerOrder order;
  order.Add(0, ActivityOf({10, 1}));
  Activity other = ActivityOf({50, 2});
  other.stream = 8;
  order.Add(0, other);
  order.Add(0, ActivityOf({11, 3}));
  EXPECT_EQ(FollowersOf(order, 10), (std::vector<uint32_t>{50, 11}));
}

TEST(EagerOrderTest, WithoutStacksNothingIsKept) {
  EagerOrder order;
  for (uint32_t kernel = 0; kernel < 10; ++kernel) order.Add(0, ActivityOf({kernel, 0}));
  EXPECT_TRUE(order.sites().empty());
}

TEST(EagerOrderTest, FollowersAreBounded) {
  EagerOrder order;
  for (uint32_t i = 0; i < 100; ++i) AddPass({{10, 1}, {100 + i, 2}}, &order);
  EXPECT_EQ(FollowersOf(order, 10).size(), EagerOrder::kMostFollowers);
}

TEST(EagerOrderTest, IsBounded) {
  const auto memory = std::make_shared<MemoryBudget>(size_t{1} << 20);
  EagerOrder order(memory);
  std::mt19937 random(7);
  for (uint32_t i = 0; i < 200'000; ++i) {
    Activity activity = ActivityOf({Below(&random, 100'000), 1});
    activity.stream = static_cast<uint32_t>(random());
    order.Add(Below(&random, 4), activity);
  }
  EXPECT_LT(order.sites().size(), 20'000u) << "as much as there is memory for";
  for (const EagerOrder::Site& site : order.sites()) {
    EXPECT_LE(site.followers.size(), EagerOrder::kMostFollowers);
  }
}

}  // namespace
}  // namespace utlz
