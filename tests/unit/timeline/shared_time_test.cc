#include "collector/timeline/shared_time.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

Activity Kernel(uint32_t kernel, uint64_t start_ns, uint64_t end_ns,
                ActivityKind kind = ActivityKind::kCompute) {
  return {.start_ns = start_ns,
          .end_ns = end_ns,
          .kernel = kernel,
          .stream = 7,
          .context = 1,
          .source = 1,
          .kind = kind};
}

// Ends what ran before.
void End(SharedTime* shared) { shared->Add(Kernel(99, 1'000'000, 1'000'001)); }

TEST(SharedTime, OneAfterTheOtherIsEachOnesOwn) {
  SharedTime shared;
  shared.Add(Kernel(0, 100, 200));
  shared.Add(Kernel(1, 200, 300));
  End(&shared);
  EXPECT_DOUBLE_EQ(shared.OwnShare(0), 1);
  EXPECT_DOUBLE_EQ(shared.OwnShare(1), 1);
}

TEST(SharedTime, IsDividedEvenlyWhileSeveralRun) {
  SharedTime shared;
  shared.Add(Kernel(0, 100, 500));  // alone for 100, of two for 200, of three for 100
  shared.Add(Kernel(1, 200, 500));
  shared.Add(Kernel(2, 400, 600));  // of three for 100, alone for 100
  End(&shared);
  const double third = 100.0 / 3;
  EXPECT_NEAR(400 * shared.OwnShare(0), 100 + 100 + third, 1e-9);
  EXPECT_NEAR(300 * shared.OwnShare(1), 100 + third, 1e-9);
  EXPECT_NEAR(200 * shared.OwnShare(2), third + 100, 1e-9);
}

TEST(SharedTime, IsThatOfAllLaunchesOfAKernel) {
  SharedTime shared;
  shared.Add(Kernel(0, 0, 100));
  shared.Add(Kernel(1, 0, 100));
  shared.Add(Kernel(0, 200, 300));
  End(&shared);
  EXPECT_DOUBLE_EQ(shared.OwnShare(0), 0.75);
  EXPECT_DOUBLE_EQ(shared.OwnShare(1), 0.5);
}

TEST(SharedTime, CommunicationAndCopiesTakeNone) {
  SharedTime shared;
  shared.Add(Kernel(0, 0, 100));
  shared.Add(Kernel(1, 0, 100, ActivityKind::kCommunication));
  shared.Add(Kernel(kNoKernel, 0, 100, ActivityKind::kHostToDevice));
  End(&shared);
  EXPECT_DOUBLE_EQ(shared.OwnShare(0), 1);
  EXPECT_DOUBLE_EQ(shared.OwnShare(1), 1);
}

// Records come late now and then.
TEST(SharedTime, WhatIsOverWhenItComesIsLeftOut) {
  SharedTime shared;
  shared.Add(Kernel(0, 500, 600));
  shared.Add(Kernel(1, 100, 200));
  End(&shared);
  EXPECT_DOUBLE_EQ(shared.OwnShare(0), 1);
  EXPECT_DOUBLE_EQ(shared.OwnShare(1), 1);
}

}  // namespace
}  // namespace utlz
