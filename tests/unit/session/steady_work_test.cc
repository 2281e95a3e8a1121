#include "collector/session/steady_work.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"
#include "tests/unit/session/now.h"

namespace utlz {
namespace {

class SteadyWorkTest : public ::testing::Test {
 protected:
  // Kernel `kernel` of GPU `device` ran for `ms`.
  void Run(size_t kernel, uint64_t ms, uint32_t device = 0) {
    if (kernels_.size() <= kernel) kernels_.resize(kernel + 1);
    kernels_[kernel].device = device;
    kernels_[kernel].time_ns += ms * kMillisecondNs;
    if (first_ns_.size() <= kernel) first_ns_.resize(kernel + 1);
    if (first_ns_[kernel] == 0) first_ns_[kernel] = now_ns_;
    kernels_[kernel].span_ns = now_ns_ - first_ns_[kernel];
  }
  void Look() {
    now_ns_ += SteadyWork::kPauseNs;
    work_.Look(now_ns_, kernels_);
  }

  uint64_t now_ns_ = kNow;
  std::vector<KernelTime> kernels_;
  std::vector<uint64_t> first_ns_;
  SteadyWork work_;
};

TEST_F(SteadyWorkTest, KernelsThatComeBackAreSteadyWork) {
  for (int i = 0; i < 3; ++i) {
    Run(0, 100);
    Look();
    EXPECT_FALSE(work_.Steady(0)) << "they are new";
  }
  Run(0, 100);
  Look();
  EXPECT_TRUE(work_.Steady(0));
}

// They come half a second late, and all at once.
TEST_F(SteadyWorkTest, WhenRecordsComeDoesNotMatter) {
  kernels_ = {{.device = 0, .time_ns = 90 * kMillisecondNs, .span_ns = SteadyWork::kKnownNs},
              {.device = 1, .time_ns = 90 * kMillisecondNs, .span_ns = SteadyWork::kKnownNs - 1}};
  Look();
  EXPECT_TRUE(work_.Steady(0)) << "of all that was launched since";
  EXPECT_FALSE(work_.Steady(1));
  for (int i = 0; i < 5; ++i) Look();
  kernels_[1].time_ns += 90 * kMillisecondNs;
  Look();
  EXPECT_FALSE(work_.Steady(1)) << "the rest of a trial came with the next records";
}

TEST_F(SteadyWorkTest, EverNewKernelsAreAStartUp) {
  for (size_t kernel = 0; kernel < 40; ++kernel) {
    Run(kernel, 100);
    Look();
    EXPECT_FALSE(work_.Steady(0)) << kernel;
  }
}

TEST_F(SteadyWorkTest, AKernelWhoseGridGrowsWithEachTokenIsNoStartUp) {
  Run(0, 90);
  for (size_t i = 0; i < 4; ++i) {
    Run(0, 90);
    Run(1 + i, 10);
    Look();
  }
  EXPECT_TRUE(work_.Steady(0));
}

TEST_F(SteadyWorkTest, APauseChangesNothing) {
  for (int i = 0; i < 4; ++i) {
    Run(0, 100);
    Look();
  }
  for (int i = 0; i < 20; ++i) Look();
  EXPECT_TRUE(work_.Steady(0));
  Run(1, 100);
  Look();
  EXPECT_FALSE(work_.Steady(0)) << "something else begins";
}

TEST_F(SteadyWorkTest, AProgramThatOnlyTriesKernelsOutDoesNothingElse) {
  size_t kernel = 0;
  for (; now_ns_ < kNow + SteadyWork::kLongestStartUpNs; ++kernel) {
    Run(kernel, 100);
    Look();
  }
  Run(kernel, 100);
  Look();
  EXPECT_TRUE(work_.Steady(0));
}

TEST_F(SteadyWorkTest, AGpuIsAtWorkForAWhileAfterItsKernels) {
  EXPECT_FALSE(work_.AtWork(now_ns_, 0)) << "nothing ran";
  Run(0, 1);
  Look();
  EXPECT_TRUE(work_.AtWork(now_ns_, 0));
  EXPECT_FALSE(work_.AtWork(now_ns_, 1)) << "another's";
  EXPECT_TRUE(work_.AtWork(now_ns_ + SteadyWork::kAtWorkNs, 0)) << "it may load a batch";
  EXPECT_FALSE(work_.AtWork(now_ns_ + SteadyWork::kAtWorkNs + 1, 0));
}

TEST_F(SteadyWorkTest, GpusAreToldApart) {
  for (size_t i = 0; i < 4; ++i) {
    Run(0, 100, 7);
    Run(1 + i, 100, 8);
    Look();
  }
  EXPECT_TRUE(work_.Steady(7));
  EXPECT_FALSE(work_.Steady(8));
  EXPECT_FALSE(work_.Steady(9));
}

}  // namespace
}  // namespace utlz
