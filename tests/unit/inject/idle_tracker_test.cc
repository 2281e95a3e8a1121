#include "inject/ranges/idle_tracker.h"

#include <gtest/gtest.h>

#include <cstring>

namespace utlz::agent {
namespace {

// Parameters with the stream at each call's place.
struct StreamOnly {
  uintptr_t stream;
};
struct LaunchKernel {
  unsigned char before[40];
  uintptr_t stream;
};
struct MemcpyAsync {
  unsigned char before[24];
  uintptr_t stream;
};
struct LaunchConfig {
  unsigned char before[32];
  uintptr_t stream;
};
struct LaunchKernelEx {
  const LaunchConfig* config;
};

class IdleTrackerTest : public testing::Test {
 protected:
  bool Call(const char* name, const void* params, bool at_exit) {
    cupti::CallbackData call{};
    call.function_name = name;
    call.function_params = params;
    return tracker_.OnDriverCall(call, at_exit);
  }
  void Launch(uintptr_t stream) {
    LaunchKernel params{{}, stream};
    EXPECT_FALSE(Call("cuLaunchKernel", &params, false));
    EXPECT_FALSE(Call("cuLaunchKernel", &params, true));
  }
  bool Synchronize(uintptr_t stream) {
    StreamOnly params{stream};
    EXPECT_FALSE(Call("cuStreamSynchronize", &params, false));
    return Call("cuStreamSynchronize", &params, true);
  }
  bool SynchronizeContext() { return Call("cuCtxSynchronize", nullptr, true); }

  IdleTracker tracker_;
};

TEST_F(IdleTrackerTest, OneStreamsSynchronizationIsEnoughWhereThereIsNoOther) {
  tracker_.Reset(true);
  EXPECT_TRUE(Synchronize(7));
  tracker_.Reset(false);
  EXPECT_FALSE(Synchronize(7));
}

TEST_F(IdleTrackerTest, KnowsNothingBeforeTheFirstContextSynchronization) {
  EXPECT_FALSE(Synchronize(7));
  EXPECT_TRUE(SynchronizeContext());
  EXPECT_TRUE(Synchronize(7));
}

TEST_F(IdleTrackerTest, AStreamsSynchronizationIsEnoughForItsOwnWork) {
  ASSERT_TRUE(SynchronizeContext());
  Launch(7);
  EXPECT_TRUE(Synchronize(7));
}

TEST_F(IdleTrackerTest, WorkOnAnotherStreamKeepsTheContextBusy) {
  ASSERT_TRUE(SynchronizeContext());
  Launch(7);
  Launch(9);
  EXPECT_FALSE(Synchronize(7));
  EXPECT_TRUE(Synchronize(9));
}

TEST_F(IdleTrackerTest, FindsTheStreamOfExtendedLaunchesAndCopies) {
  ASSERT_TRUE(SynchronizeContext());
  const LaunchConfig config{{}, 5};
  const LaunchKernelEx launch{&config};
  Call("cuLaunchKernelEx", &launch, false);
  const MemcpyAsync copy{{}, 6};
  Call("cuMemcpyDtoHAsync_v2", &copy, false);
  EXPECT_FALSE(Synchronize(5));
  EXPECT_TRUE(Synchronize(6));
}

TEST_F(IdleTrackerTest, WorkItCannotPlaceNeedsAContextSynchronization) {
  ASSERT_TRUE(SynchronizeContext());
  Call("cuLaunchHostFunc", nullptr, false);
  EXPECT_FALSE(Synchronize(0));
  Call("cuStreamWaitValue32_v2", nullptr, false);
  EXPECT_FALSE(Synchronize(0));
  EXPECT_TRUE(SynchronizeContext());
}

TEST_F(IdleTrackerTest, MoreStreamsThanItHoldsCountAsBusy) {
  ASSERT_TRUE(SynchronizeContext());
  for (uintptr_t stream = 1; stream <= 100; ++stream) Launch(stream);
  for (uintptr_t stream = 1; stream <= 100; ++stream) EXPECT_FALSE(Synchronize(stream));
  EXPECT_TRUE(SynchronizeContext());
}

TEST_F(IdleTrackerTest, CountsLaunchesOnce) {
  ASSERT_TRUE(SynchronizeContext());
  tracker_.TakeLaunches();
  Launch(1);
  Launch(1);
  EXPECT_EQ(tracker_.TakeLaunches(), 2u);
  EXPECT_EQ(tracker_.TakeLaunches(), 0u);
}

TEST_F(IdleTrackerTest, QueriesChangeNothing) {
  ASSERT_TRUE(SynchronizeContext());
  Call("cuCtxGetCurrent", nullptr, false);
  Call("cuEventQuery", nullptr, true);
  EXPECT_TRUE(Synchronize(3));
}

}  // namespace
}  // namespace utlz::agent
