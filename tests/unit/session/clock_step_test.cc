// What becomes of a session whose machine's clock is set. The clock of this program is: its own
// clock_gettime() stands before the C library's.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "collector/session/clock_reading.h"
#include "collector/session/session.h"
#include "proto/profile.pb.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/session/agent_process.h"

namespace {

std::atomic<int> seconds_back{0};

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) time->tv_sec -= seconds_back;
  return result;
}

namespace utlz {
namespace {

constexpr int kHourSeconds = 3600;
constexpr uint64_t kHalfAnHourNs = 1'800'000'000'000;

class ClockStepTest : public ::testing::Test {
 protected:
  ~ClockStepTest() override { seconds_back = 0; }

  // Generous: the defect is an hour without windows.
  template <typename Condition>
  static bool Within30Seconds(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition() && std::chrono::steady_clock::now() < end) sched_yield();
    return condition();
  }

  TemporaryFolder folder_;
};

TEST_F(ClockStepTest, WindowsGoOnAfterAnHoursStepBack) {
  SessionOptions options;
  options.profile_path = folder_.File("run.utlz");
  options.socket_path = folder_.File("agents");
  options.sampler_executable.clear();
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Start(options);
  ASSERT_TRUE(session.ok()) << session.status();
  AgentProcess agent(options.socket_path);
  Device device;
  device.set_uuid("0123456789abcdef");
  ASSERT_TRUE(agent.ring().Write(FRAME_DEVICE, device.SerializeAsString()));
  const RingControl& control = agent.ring().header().control;
  ASSERT_TRUE(Within30Seconds([&] { return control.window_end_ns != 0; }));
  const uint64_t before_ns = RealtimeNs();
  seconds_back = kHourSeconds;
  EXPECT_TRUE(Within30Seconds([&] {
    return control.window_end_ns != 0 && control.window_begin_ns < before_ns - kHalfAnHourNs;
  })) << "in the time that agents go by from now on";
  EXPECT_GT(control.window_begin_ns, RealtimeNs() - kHalfAnHourNs);
  agent.Kill();
  EXPECT_TRUE((*session)->Finish({.exit_status = 0}).ok());
}

TEST(ClockReadingTest, TimesKeepTheirDistanceToNow) {
  constexpr ClockReading kNow{.monotonic_ns = 1000, .realtime_ns = 5000};
  EXPECT_EQ(kNow.ToMonotonicNs(5000), 1000u);
  EXPECT_EQ(kNow.ToMonotonicNs(5100), 1100u);
  EXPECT_EQ(kNow.ToMonotonicNs(4900), 900u);
  EXPECT_EQ(kNow.ToRealtimeNs(900), 4900u);
  EXPECT_EQ(kNow.ToMonotonicNs(0), 0u) << "at any time";
  EXPECT_EQ(kNow.ToMonotonicNs(UINT64_MAX), UINT64_MAX - 4000);
  EXPECT_EQ(kNow.ToRealtimeNs(UINT64_MAX), UINT64_MAX);
}

}  // namespace
}  // namespace utlz
