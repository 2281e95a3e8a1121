#include "collector/exact_shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace utlz {
namespace {

int64_t SumOf(int64_t total, const std::vector<double>& weights) {
  double all = 0;
  for (const double weight : weights) all += weight;
  ExactShares shares(total, all);
  int64_t sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t part = shares.Next(weights[i], i + 1 == weights.size());
    EXPECT_GE(part, 0);
    sum += part;
  }
  return sum;
}

TEST(ExactSharesTest, PartsSumToTheWhole) {
  EXPECT_EQ(SumOf(10, {1, 1, 1}), 10);
  EXPECT_EQ(SumOf(1, {1, 1, 1, 1, 1, 1, 1}), 1);
  EXPECT_EQ(SumOf(4'000'000'000'000'000'001, std::vector<double>(1000, 0.1)),
            4'000'000'000'000'000'001);
  EXPECT_EQ(SumOf(7, {0, 0}), 7) << "the last one takes what no weight asks for";
}

TEST(ExactSharesTest, PartsFollowTheWeights) {
  ExactShares shares(100, 4);
  EXPECT_EQ(shares.Next(1, false), 25);
  EXPECT_EQ(shares.Next(3, true), 75);
}

}  // namespace
}  // namespace utlz
