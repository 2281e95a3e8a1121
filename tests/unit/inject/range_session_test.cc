#include "inject/ranges/range_session.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "inject/driver/one_agent.h"
#include "proto/ring_abi.h"
#include "tests/support/nanoseconds.h"

namespace utlz::agent {
namespace {

// What the session asked of CUPTI and of its process, and what they answer.
struct World {
  bool main_thread_watched = true;
  bool counters_start = true;
  int asked_to_watch = 0;
  int subscribers = 0;
  int profilers_initialized = 0;
  int started = 0;
  int open = 0;
  int pushed = 0;
  int disabled = 0;
  std::vector<int> watched_after;  // how often started by each WatchExitForRanges
};
World world;

cupti::Result SubscribeInWorld(cupti::Subscriber* subscriber, cupti::Callback, void*) {
  *subscriber = reinterpret_cast<cupti::Subscriber>(&world);
  ++world.subscribers;
  return cupti::kSuccess;
}

cupti::Result UnsubscribeInWorld(cupti::Subscriber) {
  --world.subscribers;
  return cupti::kSuccess;
}

template <typename Params>
Params& As(void* params) {
  return *static_cast<Params*>(params);
}

cupti::Result Done(void*) { return cupti::kSuccess; }

CuptiApi CuptiWithRanges() {
  CuptiApi api{};
  api.has_ranges = true;
  api.subscribe = SubscribeInWorld;
  api.unsubscribe = UnsubscribeInWorld;
  api.enable_domain = [](uint32_t, cupti::Subscriber, uint32_t) { return cupti::kSuccess; };
  api.profiler_initialize = [](void*) {
    ++world.profilers_initialized;
    return cupti::kSuccess;
  };
  api.device_get_chip_name = [](void* params) {
    As<cupti::GetChipNameParams>(params).chip_name = "GH100";
    return cupti::kSuccess;
  };
  api.host_initialize = [](void* params) {
    As<cupti::HostInitializeParams>(params).host_object =
        reinterpret_cast<cupti::HostObject*>(&world);
    return cupti::kSuccess;
  };
  api.host_get_config_image_size = [](void* params) {
    As<cupti::HostGetConfigImageSizeParams>(params).config_image_size = 64;
    return cupti::kSuccess;
  };
  api.host_get_num_of_passes = [](void* params) {
    As<cupti::HostGetNumOfPassesParams>(params).pass_count = 1;
    return cupti::kSuccess;
  };
  api.host_deinitialize = api.host_config_add_metrics = api.host_get_config_image =
      api.host_evaluate = api.range_set_config = api.range_counter_data_initialize =
          api.range_decode = Done;
  api.range_enable = [](void* params) {
    As<cupti::RangeEnableParams>(params).profiler = &world;
    return cupti::kSuccess;
  };
  api.range_counter_data_size = [](void* params) {
    As<cupti::RangeCounterDataSizeParams>(params).counter_data_bytes = 4096;
    return cupti::kSuccess;
  };
  api.range_start = [](void*) {
    if (!world.counters_start) return cupti::kSuccess + 1;
    ++world.started;
    return cupti::kSuccess;
  };
  api.range_stop = [](void*) {
    --world.started;
    return cupti::kSuccess;
  };
  api.range_disable = [](void*) {
    ++world.disabled;
    return cupti::kSuccess;
  };
  api.range_push = [](void*) {
    ++world.pushed;
    ++world.open;
    return cupti::kSuccess;
  };
  api.range_pop = [](void*) {
    --world.open;
    return cupti::kSuccess;
  };
  api.range_counter_data_info = [](void* params) {
    As<cupti::RangeCounterDataInfoParams>(params).ranges = static_cast<size_t>(world.pushed);
    return cupti::kSuccess;
  };
  return api;
}

class RangeSessionTest : public testing::Test {
 protected:
  RangeSessionTest() {
    world = {};
    const int file = ring_.Create(1 << 20);
    EXPECT_GE(file, 0);
    close(file);
    EXPECT_TRUE(recorder_.Create(&ring_, &api_, false));
  }

  void Turn(bool allowed = true) { session_.Turn(api_, &recorder_, allowed, now_ns_); }

  // The program waits until its GPU is idle.
  void Synchronize() {
    cupti::CallbackData call{};
    call.site = cupti::kCallbackExit;
    call.function_name = "cuCtxSynchronize";
    call.context = reinterpret_cast<cupti::Context>(&world);
    session_.OnDriverCall(call);
  }

  void StartCounting() {
    Turn();
    Synchronize();
    Turn();
    ASSERT_EQ(world.started, 1);
  }

  // Over, with nothing left behind.
  void ExpectOver() {
    EXPECT_TRUE(session_.Finished());
    EXPECT_EQ(world.subscribers, 0);
    EXPECT_EQ(world.open, 0);
    EXPECT_EQ(world.started, 0);
  }

  const CuptiApi api_ = CuptiWithRanges();
  RingWriter ring_;
  Recorder recorder_;
  RangeSession session_;
  uint64_t now_ns_ = 0;
};

TEST_F(RangeSessionTest, DoesNothingUnlessItMay) {
  Turn(false);
  EXPECT_FALSE(session_.UnderWay());
  EXPECT_EQ(world.subscribers, 0);
}

TEST_F(RangeSessionTest, CountsBetweenSynchronizations) {
  StartCounting();
  Synchronize();
  EXPECT_EQ(world.open, 1);
  Synchronize();
  EXPECT_EQ(world.pushed, 2);
  EXPECT_EQ(world.open, 1);
}

TEST_F(RangeSessionTest, LooksAtItsLibrariesOnlyWhenAnIdleContextIsKnown) {
  Turn();
  EXPECT_EQ(world.subscribers, 1);
  Turn();
  EXPECT_EQ(world.profilers_initialized, 0);
  Synchronize();
  EXPECT_EQ(world.profilers_initialized, 0);
  Turn();
  EXPECT_EQ(world.profilers_initialized, 1);
}

TEST_F(RangeSessionTest, WithoutWordOfTheMainThreadsEndNothingIsSetUp) {
  world.main_thread_watched = false;
  Turn();
  Synchronize();
  Turn();
  EXPECT_EQ(world.asked_to_watch, 1);
  EXPECT_EQ(world.profilers_initialized, 0);
  now_ns_ = 3001 * kMillisecondNs;
  Turn();
  ExpectOver();
}

TEST_F(RangeSessionTest, AMainThreadThatComesLaterIsWatched) {
  world.main_thread_watched = false;
  Turn();
  Synchronize();
  world.main_thread_watched = true;
  Synchronize();
  Turn();
  EXPECT_EQ(world.started, 1);
}

TEST_F(RangeSessionTest, IsGivenUpWhereItMayNoMoreBeforeTheCountersStart) {
  Turn();
  Synchronize();
  Turn(false);
  EXPECT_EQ(world.profilers_initialized, 0);
  ExpectOver();
}

TEST_F(RangeSessionTest, IsGivenUpWhereTheCountersDoNotStart) {
  world.counters_start = false;
  Turn();
  Synchronize();
  Turn();
  EXPECT_EQ(world.disabled, 1);
  ExpectOver();
}

TEST_F(RangeSessionTest, ExitsByOtherThreadsAreWatchedForAfterEachStep) {
  StartCounting();
  EXPECT_EQ(world.watched_after, (std::vector<int>{0, 0, 1}));
}

TEST_F(RangeSessionTest, AnExitWhileItLooksForAContextEndsIt) {
  Turn();
  session_.EndAtExit();
  ExpectOver();
  Synchronize();
  Turn();
  EXPECT_EQ(world.profilers_initialized, 0);
}

TEST_F(RangeSessionTest, AnExitWhileTheGpuIsIdleReadsOutAndGivesBack) {
  StartCounting();
  Synchronize();
  session_.EndAtExit();
  EXPECT_EQ(world.disabled, 1);
  ExpectOver();
}

TEST_F(RangeSessionTest, AnExitWhileTheGpuWorksWaitsForNothing) {
  StartCounting();
  Synchronize();
  cupti::CallbackData launch{};
  launch.function_name = "cuLaunchKernel";
  launch.context = reinterpret_cast<cupti::Context>(&world);
  const uintptr_t params[8] = {};
  launch.function_params = params;
  session_.OnDriverCall(launch);
  session_.EndAtExit();
  EXPECT_TRUE(session_.Finished());
  EXPECT_EQ(world.subscribers, 0);
  EXPECT_EQ(world.open, 1);
  EXPECT_EQ(world.disabled, 0);
}

}  // namespace

// The library's ways in, of which this program has none.
void WatchMainThread() { ++world.asked_to_watch; }
bool MainThreadIsWatched() { return world.main_thread_watched; }
void WatchExitForRanges() { world.watched_after.push_back(world.started); }
void DriverCallCallback(void*, uint32_t, uint32_t, const void*) {}

}  // namespace utlz::agent
