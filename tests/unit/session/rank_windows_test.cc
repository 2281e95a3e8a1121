// A session plans the windows of ranks that compute together for one time.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collector/clocks.h"
#include "collector/session/window_planner.h"
#include "proto/profile.pb.h"
#include "tests/support/nanoseconds.h"
#include "tests/unit/session/agent_process.h"
#include "tests/unit/session/session_fixture.h"

namespace utlz {
namespace {

constexpr size_t kRanks = 3;

class RankWindowsTest : public SessionTest {
 protected:
  struct Window {
    uint64_t begin_ns;
    uint64_t end_ns;
  };

  RankWindowsTest() {
    Start();
    for (size_t i = 0; i < kRanks; ++i) {
      agents_.push_back(std::make_unique<AgentProcess>(options_.socket_path));
    }
  }

  template <typename Message>
  void Write(size_t agent, uint16_t type, const Message& message) {
    ASSERT_TRUE(agents_[agent]->ring().Write(type, message.SerializeAsString()));
  }

  // Each on a GPU of its own.
  void UseGpus() {
    for (size_t i = 0; i < kRanks; ++i) {
      Device device;
      device.set_uuid(std::string(16, static_cast<char>('a' + i)));
      Write(i, FRAME_DEVICE, device);
      Context context;
      context.set_id(1);
      Write(i, FRAME_CONTEXT, context);
    }
  }

  Window WindowOf(size_t agent) const {
    const RingControl& control = agents_[agent]->ring().header().control;
    return {control.window_begin_ns, control.window_end_ns};
  }

  bool HaveOneWindow() const {
    const Window first = WindowOf(0);
    for (size_t i = 0; i < kRanks; ++i) {
      const Window window = WindowOf(i);
      if (window.end_ns == 0 || window.begin_ns != first.begin_ns ||
          window.end_ns != first.end_ns) {
        return false;
      }
    }
    return true;
  }

  void AwaitCommonWindows() {
    for (int i = 0; i < 2; ++i) {
      const uint64_t before_ns = WindowOf(0).begin_ns;
      while (WindowOf(0).begin_ns == before_ns || !HaveOneWindow()) sched_yield();
    }
    agents_.clear();
    Finish();
  }

  std::vector<std::unique_ptr<AgentProcess>> agents_;
};

TEST_F(RankWindowsTest, OfOneLauncher) {
  for (size_t i = 0; i < kRanks; ++i) {
    Process process = SomeProcess();
    process.set_rank(static_cast<uint32_t>(i));
    process.set_world_size(kRanks);
    Write(i, FRAME_PROCESS, process);
  }
  UseGpus();
  AwaitCommonWindows();
}

TEST_F(RankWindowsTest, OfOneCommunicator) {
  for (size_t i = 0; i < kRanks; ++i) Write(i, FRAME_PROCESS, SomeProcess());
  UseGpus();
  for (size_t i = 0; i < kRanks; ++i) {
    CommunicationCallBatch batch;
    batch.add_communicator(4711);
    batch.add_ranks(0);
    Write(i, FRAME_COMMUNICATION_CALLS, batch);
  }
  AwaitCommonWindows();
}

TEST_F(RankWindowsTest, NoneWaitsForARankThatIsRecordedNoMore) {
  agents_[1]->ring().header().producer.window_ready_ns = RealtimeNs() + 3600 * kSecondNs;
  AgentStatus status;
  status.set_time_ns(RealtimeNs());
  status.set_records_state(RECORDS_ENDED);
  Write(1, FRAME_AGENT_STATUS, status);
  for (size_t i = 0; i < kRanks; ++i) {
    Process process = SomeProcess();
    process.set_world_size(kRanks);
    Write(i, FRAME_PROCESS, process);
  }
  UseGpus();
  while (!HaveOneWindow()) sched_yield();
  EXPECT_LT(WindowOf(0).begin_ns, RealtimeNs() + WindowPlanner::kLongestWaitNs / 2);
  agents_.clear();
  Finish();
}

TEST_F(RankWindowsTest, AgentsHearWhatTheirPeersHaveDecided) {
  for (size_t i = 0; i < kRanks; ++i) {
    Process process = SomeProcess();
    if (i != 2) process.set_world_size(kRanks);
    Write(i, FRAME_PROCESS, process);
  }
  UseGpus();
  const auto heard = [this](size_t agent) {
    return static_cast<PeersVote>(agents_[agent]->ring().header().control.peers_vote.load());
  };
  while (heard(0) != PeersVote::kUndecided) sched_yield();
  agents_[1]->ring().header().producer.records_vote = static_cast<uint32_t>(RecordsVote::kWindows);
  while (heard(0) != PeersVote::kNone) sched_yield();
  agents_[1]->ring().header().producer.records_vote = static_cast<uint32_t>(RecordsVote::kEnded);
  while (heard(0) != PeersVote::kEnded) sched_yield();
  EXPECT_EQ(heard(2), PeersVote::kNone) << "it computes with nobody";
  agents_[1]->ring().header().producer.records_vote = 4711;
  while (heard(0) != PeersVote::kUndecided) sched_yield();
  agents_.clear();
  Finish();
}

TEST_F(RankWindowsTest, ProcessesOfTheirOwnHaveWindowsOfTheirOwn) {
  for (size_t i = 0; i < kRanks; ++i) Write(i, FRAME_PROCESS, SomeProcess());
  UseGpus();
  const auto all_planned = [&] {
    for (size_t i = 0; i < kRanks; ++i) {
      if (WindowOf(i).end_ns == 0) return false;
    }
    return true;
  };
  while (!all_planned()) sched_yield();
  EXPECT_FALSE(HaveOneWindow());
  agents_.clear();
  Finish();
}

}  // namespace
}  // namespace utlz
