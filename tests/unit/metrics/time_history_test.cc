// Busy time and causes are of the last seconds that are known, although an idle stretch comes into
// the ledger only when the next kernel ends it, and records come seconds late.
#include "collector/metrics/time_history.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "proto/ring_abi.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

constexpr uint64_t kLagNs = 3 * kSecondNs;  // by which records may come late
constexpr auto kIdleOther = static_cast<size_t>(TimeCause::kIdleOther);

class TimeHistoryTest : public ::testing::Test {
 protected:
  TimeHistoryTest() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"_Z4gemmPfPKfS1_i"});
  }

  // A second with kernels in its first `busy_share`, and with what the agent says at its end.
  void PassSecond(double busy_share) {
    std::vector<Launch> launches;
    for (uint64_t i = 0; i < static_cast<uint64_t>(busy_share * 1000); ++i) {
      launches.push_back(RunBuilder::LaunchAt(now_ns_ + i * kMillisecondNs, kMillisecondNs));
    }
    if (!launches.empty()) run_.SendLaunches(launches);
    now_ns_ += kSecondNs;
    AgentStatus status;
    status.set_time_ns(kRunStartNs + now_ns_);
    run_.Send(1, FRAME_AGENT_STATUS, status);
    const RunState& state = run_.intake().Advance();
    ledger_.Update(state, WorkLedger());
    history_.Add(ledger_.devices()[0], state.NewestNs());
  }

  void PassSeconds(int seconds, double busy_share) {
    for (int i = 0; i < seconds; ++i) PassSecond(busy_share);
  }

  // Of the last window; `end_ns` 0: it is open.
  void SendWindow(uint64_t start_ns, uint64_t end_ns) {
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(kRunStartNs + start_ns);
    if (end_ns > 0) window.set_end_ns(kRunStartNs + end_ns);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
  }

  double BusyShare() const {
    const auto growth = history_.Growth();
    return growth.has_value() ? growth->busy_ns / growth->traced_ns : -1;
  }

  RunBuilder run_;
  TimeLedger ledger_;
  TimeHistory history_;
  uint64_t now_ns_ = 0;
};

TEST_F(TimeHistoryTest, IdleTimeOfLongAgoIsForgotten) {
  PassSecond(0.001);
  PassSeconds(9, 0);
  PassSeconds(17, 1);
  // Of the 15 s before the last three, one was idle.
  EXPECT_NEAR(BusyShare(), 14.0 / 15, 1e-3);
  const auto growth = history_.Growth();
  ASSERT_TRUE(growth.has_value());
  EXPECT_NEAR(growth->traced_ns, TimeHistory::kLengthNs, 1e3);
  const double all_ns = std::accumulate(growth->time_ns.begin(), growth->time_ns.end(), 0.0);
  EXPECT_NEAR(all_ns, growth->traced_ns, 1e3);
}

TEST_F(TimeHistoryTest, IdleTimeThatGoesOnCounts) {
  PassSeconds(20, 1);
  EXPECT_NEAR(BusyShare(), 1, 1e-3);
  PassSeconds(8, 0);
  EXPECT_NEAR(BusyShare(), 10.0 / 15, 1e-3);
  EXPECT_NEAR(history_.Growth()->time_ns[kIdleOther], 5e9, 1e6);
  PassSeconds(20, 0);
  EXPECT_NEAR(BusyShare(), 0, 1e-3);
  EXPECT_NEAR(history_.Growth()->time_ns[kIdleOther], 15e9, 1e6);
}

TEST_F(TimeHistoryTest, TimeWithoutTracingIsNoIdleTime) {
  SendWindow(1, 0);
  PassSeconds(20, 1);
  SendWindow(1, now_ns_);
  PassSeconds(8, 0);
  EXPECT_NEAR(BusyShare(), 1, 1e-3);
  PassSeconds(10, 0);
  EXPECT_FALSE(history_.Growth().has_value()) << "nothing is known of the last 15 seconds";
}

TEST_F(TimeHistoryTest, NothingBeforeTheFirstKernel) {
  EXPECT_FALSE(history_.Growth().has_value());
  PassSeconds(5, 0);
  EXPECT_FALSE(history_.Growth().has_value());
  PassSeconds(6, 0.5);
  // Three seconds are known, from the first kernel on.
  EXPECT_NEAR(BusyShare(), 0.5, 1e-3);
  EXPECT_NEAR(history_.Growth()->traced_ns, 6e9 - kLagNs, 1e6);
}

}  // namespace
}  // namespace utlz
