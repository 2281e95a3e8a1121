// Sessions with a sampler: when it counts, together with the agents on its GPU, and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "collector/clocks.h"
#include "collector/session/window_planner.h"
#include "proto/profile.pb.h"
#include "proto/sampler.pb.h"
#include "tests/unit/session/agent_process.h"
#include "tests/unit/session/session_fixture.h"

namespace utlz {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kUuid[] = "0123456789abcdef";  // of the fake sampler's GPU

class SessionSamplerTest : public SessionTest {
 protected:
  SessionSamplerTest() { options_.sampler_executable = UTLZ_FAKE_SAMPLER; }
};

bool SayDevice(AgentProcess* agent) {
  Device device;
  device.set_uuid(kUuid);
  return agent->ring().Write(FRAME_DEVICE, device.SerializeAsString());
}

bool SayRecordsState(AgentProcess* agent, RecordsState state) {
  AgentStatus status;
  status.set_time_ns(RealtimeNs());
  status.set_records_state(state);
  return agent->ring().Write(FRAME_AGENT_STATUS, status.SerializeAsString());
}

// The GPU's processes trace while its sampler counts: both are told of one window.
TEST_F(SessionSamplerTest, PlansOneWindowForTheSamplerAndTheProcessesOnItsGpu) {
  Start();
  AgentProcess on_it(options_.socket_path);
  AgentProcess elsewhere(options_.socket_path);
  on_it.ring().header().producer.window_ready_ns = RealtimeNs() + 300'000'000;
  ASSERT_TRUE(SayDevice(&on_it));
  const uint64_t ready_ns = on_it.ring().header().producer.window_ready_ns;
  const RingControl& control = on_it.ring().header().control;
  // The fake sampler puts it off by a second, as for another collector's processes.
  constexpr uint64_t kPutOffNs = 1'000'000'000;
  while (control.window_end_ns == 0 || control.window_begin_ns < ready_ns + kPutOffNs) {
    sched_yield();
  }
  const uint64_t begin_ns = control.window_begin_ns - kPutOffNs;
  const uint64_t end_ns = control.window_end_ns - kPutOffNs;
  EXPECT_GE(begin_ns, ready_ns);
  EXPECT_EQ(elsewhere.ring().header().control.window_end_ns, 0u);
  on_it.Kill();
  elsewhere.Kill();
  Finish();
  const auto told = Recorded<SamplerStatus>(FRAME_SAMPLER_STATUS);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].device_uuid(), kUuid);
  EXPECT_GT(told[1].time_ns(), begin_ns);
  EXPECT_GT(end_ns, told[1].time_ns() + 20'000'000);
  EXPECT_TRUE(Recorded<SamplerReady>(FRAME_SAMPLER_READY).empty());
}

// It may be recorded no more by the time at which its account could pay for a window.
TEST_F(SessionSamplerTest, AProcessThatIsRecordedThroughoutIsSampledAtOnce) {
  Start();
  AgentProcess agent(options_.socket_path);
  agent.ring().header().producer.window_ready_ns = RealtimeNs() + 3'600'000'000'000;
  ASSERT_TRUE(SayRecordsState(&agent, RECORDS_FROM_START));
  ASSERT_TRUE(SayDevice(&agent));
  const RingControl& control = agent.ring().header().control;
  while (control.window_end_ns == 0) sched_yield();
  EXPECT_LT(control.window_begin_ns, RealtimeNs() + WindowPlanner::kLongestWaitNs / 2);
  agent.Kill();
  Finish();
}

// Samples tell nothing of kernels that are recorded no more.
TEST_F(SessionSamplerTest, AProcessWhoseRecordsEndedIsSampledSeldom) {
  options_.cupti_path = "ready again";
  Start();
  AgentProcess agent(options_.socket_path);
  ASSERT_TRUE(agent.ring().Write(FRAME_VARIANTS, Variants().SerializeAsString()));
  ASSERT_TRUE(SayRecordsState(&agent, RECORDS_ENDED));
  ASSERT_TRUE(SayDevice(&agent));
  const RingControl& control = agent.ring().header().control;
  uint64_t begin_ns = 0;
  for (int windows = 0; windows < 4;) {
    const uint64_t told_ns = control.window_begin_ns;
    if (told_ns != begin_ns) ++windows;
    begin_ns = told_ns;
    sched_yield();
  }
  agent.Kill();
  Finish();
  EXPECT_EQ(Recorded<SamplerStatus>(FRAME_SAMPLER_STATUS).size(), 2u)
      << "the first, and that of one window";
}

// A process that came ten minutes ago and left its GPU alone since.
TEST_F(SessionSamplerTest, AnAlarmIsToldRecordedAndHasALongWindow) {
  options_.cupti_path = "idle";
  std::atomic<int> told = 0;
  options_.report_alarm = [&](const Alarm& alarm) {
    EXPECT_EQ(alarm.name(), "gpu_held_idle");
    ++told;
  };
  Start();
  AgentProcess agent(options_.socket_path);
  const uint64_t now_ns = RealtimeNs();
  agent.ring().header().producer.window_ready_ns = now_ns;
  Process process = SomeProcess();
  process.set_start_time_ns(now_ns - 600'000'000'000);
  ASSERT_TRUE(agent.ring().Write(FRAME_PROCESS, process.SerializeAsString()));
  ASSERT_TRUE(SayDevice(&agent));
  Context context;
  context.set_id(1);
  ASSERT_TRUE(agent.ring().Write(FRAME_CONTEXT, context.SerializeAsString()));
  AgentStatus status;
  status.set_time_ns(now_ns);
  ASSERT_TRUE(agent.ring().Write(FRAME_AGENT_STATUS, status.SerializeAsString()));
  const RingControl& control = agent.ring().header().control;
  while (told == 0 || control.window_end_ns - control.window_begin_ns != WindowPlanner::kLongNs) {
    sched_yield();
  }
  const pid_t pid = agent.pid();
  agent.Kill();
  Finish();
  const auto alarms = Recorded<Alarm>(FRAME_ALARM);
  ASSERT_FALSE(alarms.empty());
  EXPECT_EQ(alarms[0].name(), "gpu_held_idle");
  EXPECT_EQ(alarms[0].pid(), static_cast<uint64_t>(pid));
}

TEST_F(SessionSamplerTest, TellsTheSamplerWhereALibcuptiMayBe) {
  options_.sampler_executable = folder_.File("sampler");
  const std::string told_path = folder_.File("told");
  std::ofstream(options_.sampler_executable)
      << "#!/bin/sh\nfor word; do echo \"$word\"; done > " << told_path << "\n";
  std::filesystem::permissions(options_.sampler_executable, std::filesystem::perms::owner_all);
  options_.cupti_path = "/a place/libcupti.so.13";
  options_.program_prefix = "/my venv";
  Start();
  std::string told;
  while (told.find("--program-prefix") == std::string::npos) told = ReadWholeFile(told_path);
  Finish();
  EXPECT_THAT(told, HasSubstr("--cupti=/a place/libcupti.so.13\n"));
  EXPECT_THAT(told, HasSubstr("--program-prefix=/my venv\n"));
}

// A run that ends while its sampler sets up does not wait for it, and says what it lacks.
TEST_F(SessionSamplerTest, ASamplerThatIsStillSettingUpIsNotWaitedFor) {
  options_.sampler_executable = folder_.File("slow_sampler");
  const std::string pid_path = folder_.File("pid");
  std::ofstream(options_.sampler_executable)
      << "#!/bin/sh\necho $$ > " << pid_path << ".new; mv " << pid_path << ".new " << pid_path
      << "; exec sleep 1000\n";
  std::filesystem::permissions(options_.sampler_executable, std::filesystem::perms::owner_all);
  Start();
  AgentProcess agent(options_.socket_path);
  ASSERT_TRUE(SayDevice(&agent));
  pid_t sampler = 0;
  while (!(std::ifstream(pid_path) >> sampler)) sched_yield();
  agent.Kill();
  Finish();
  session_.reset();
  EXPECT_EQ(kill(sampler, 0), -1);
  EXPECT_THAT(Notices(), Contains(HasSubstr("ended before the first were read")));
}

TEST_F(SessionSamplerTest, SaysThatTheSamplerDidNotStart) {
  options_.sampler_executable = folder_.File("no such program");
  Start();
  Finish();
  EXPECT_THAT(Notices(), Contains(HasSubstr("sampler")));
}

TEST_F(SessionSamplerTest, IsReadyOnceTheSamplerWasStarted) {
  Start();
  session_->AwaitReady();
  siginfo_t child;
  EXPECT_EQ(waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT), 0) << "there is one";
  Finish();
}

}  // namespace
}  // namespace utlz
