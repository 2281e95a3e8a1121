#include "collector/timeline/kernel_returns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace utlz {
namespace {

class Launches {
 public:
  void Add(uint32_t kernel) {
    returns_.Add({.start_ns = ++now_ns_,
                  .end_ns = now_ns_,
                  .kernel = kernel,
                  .stream = 0,
                  .context = 0,
                  .source = 0,
                  .kind = ActivityKind::kCompute});
  }
  const KernelReturns& returns() const { return returns_; }

 private:
  KernelReturns returns_;
  uint64_t now_ns_ = 0;
};

// Kernel 1 begins a hundred launches of others, six times.
TEST(KernelReturnsTest, ListsWhenAKernelCameBack) {
  Launches launches;
  for (int i = 0; i < 6; ++i) {
    launches.Add(1);
    for (uint32_t other = 0; other < 100; ++other) launches.Add(2 + other % 5);
  }
  const std::vector<std::vector<uint64_t>> away_50 = launches.returns().After(50);
  // The others came once: their first launch.
  ASSERT_EQ(away_50.size(), 6U);
  EXPECT_EQ(away_50.front(), (std::vector<uint64_t>{1, 102, 203, 304, 405, 506}));
  EXPECT_EQ(away_50.back().size(), 1U);
  EXPECT_EQ(launches.returns().After(101).front().size(), 1U);
}

// Kernel 1 comes back after 10 launches, and seldom after 1,000.
TEST(KernelReturnsTest, GivesUpTheShortestAbsences) {
  Launches launches;
  for (uint64_t i = 0; i < 20; ++i) {
    for (int often = 0; often < 40; ++often) {
      launches.Add(1);
      for (int other = 0; other < 10; ++other) launches.Add(2);
    }
    for (int other = 0; other < 1000; ++other) launches.Add(2);
  }
  EXPECT_EQ(launches.returns().After(500).front().size(), 20U);
  // Of absences as short as ten most were given up: that says nothing of when the kernel came back.
  for (const std::vector<uint64_t>& starts : launches.returns().After(8)) {
    EXPECT_EQ(starts.size(), 1U) << "of kernel 2";
  }
}

}  // namespace
}  // namespace utlz
