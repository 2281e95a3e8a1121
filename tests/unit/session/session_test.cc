#include "collector/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <string>
#include <vector>

#include "collector/clocks.h"
#include "proto/profile.pb.h"
#include "tests/support/launch_encoder.h"
#include "tests/unit/session/agent_process.h"
#include "tests/unit/session/session_fixture.h"

namespace utlz {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SessionTest, RecordsARunFromItsStartToItsSummary) {
  Start();
  AgentProcess agent(options_.socket_path);
  ASSERT_TRUE(agent.welcome().has_value());
  EXPECT_EQ(agent.welcome()->accepted, 1u);
  EXPECT_EQ(agent.welcome()->state, static_cast<uint32_t>(AgentState::kTracing));
  EXPECT_EQ(agent.welcome()->overhead_budget_ppm, 10000u);
  const pid_t pid = agent.pid();
  ASSERT_TRUE(agent.ring().Write(FRAME_PROCESS, SomeProcess().SerializeAsString()));
  LaunchBatch batch;
  batch.set_base_ns(77);
  ASSERT_TRUE(agent.ring().Write(FRAME_LAUNCHES, batch.SerializeAsString()));
  ProcessEnd end;
  end.set_how("exit");
  ASSERT_TRUE(agent.ring().Write(FRAME_PROCESS_END, end.SerializeAsString()));
  agent.ring().header().producer.ended = 1;
  agent.Kill();
  const SessionResult result = Finish({.exit_status = 3, .notices = {"of the launcher"}});

  EXPECT_EQ(result.agents, 1u);
  EXPECT_FALSE(result.write_failure);
  const auto starts = Recorded<RunStart>(FRAME_RUN_START);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_THAT(starts[0].command(), ElementsAre("python", "train.py"));
  EXPECT_EQ(starts[0].overhead_budget_ppm(), 10000u);
  const auto processes = Recorded<Process>(FRAME_PROCESS);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].host_pid(), static_cast<uint64_t>(pid));
  EXPECT_EQ(processes[0].pid(), 4711u);
  const auto batches = Recorded<LaunchBatch>(FRAME_LAUNCHES);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].base_ns(), 77u);
  const auto ends = Recorded<ProcessEnd>(FRAME_PROCESS_END);
  ASSERT_EQ(ends.size(), 1u) << "an end that the agent wrote is not written again";
  EXPECT_EQ(ends[0].how(), "exit");
  const auto run_ends = Recorded<RunEnd>(FRAME_RUN_END);
  ASSERT_EQ(run_ends.size(), 1u);
  EXPECT_EQ(run_ends[0].exit_status(), 3);
  EXPECT_FALSE(run_ends[0].has_signal());
  EXPECT_THAT(run_ends[0].notices(), ElementsAre("of the launcher"));
  EXPECT_EQ(Recorded<Summary>(FRAME_SUMMARY).size(), 1u);
}

TEST_F(SessionTest, WritesTheEndOfAProcessThatVanished) {
  Start();
  AgentProcess agent(options_.socket_path);
  ASSERT_TRUE(agent.ring().Write(FRAME_LAUNCHES, ""));
  RingProducer& producer = agent.ring().header().producer;
  producer.state = static_cast<uint32_t>(AgentState::kTracing);
  producer.launches_dropped = 12;
  const uint64_t flushed_ns = RealtimeNs() - 300'000'000;
  producer.flushed_until_ns = flushed_ns;
  agent.Kill();
  Finish({.signal = 9});
  EXPECT_EQ(Recorded<LaunchBatch>(FRAME_LAUNCHES).size(), 1u) << "the ring outlives its process";
  const auto ends = Recorded<ProcessEnd>(FRAME_PROCESS_END);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].how(), "vanished");
  EXPECT_EQ(ends[0].launches_dropped_ring(), 12u);
  EXPECT_EQ(ends[0].lost_at_most_ns(), ends[0].time_ns() - flushed_ns);
  ASSERT_EQ(Recorded<RunEnd>(FRAME_RUN_END).size(), 1u);
  EXPECT_EQ(Recorded<RunEnd>(FRAME_RUN_END)[0].signal(), 9);
}

TEST_F(SessionTest, AProcessWhoseAgentSleptHasLostNothing) {
  Start();
  AgentProcess agent(options_.socket_path);
  agent.ring().header().producer.state = static_cast<uint32_t>(AgentState::kInactive);
  agent.Kill();
  Finish();
  const auto ends = Recorded<ProcessEnd>(FRAME_PROCESS_END);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_FALSE(ends[0].has_lost_at_most_ns());
}

// Whoever finds the socket's path somewhere is not of this run.
TEST_F(SessionTest, TakesInAgentsAloneThatKnowTheRunsToken) {
  RunToken token = {};
  for (uint8_t i = 0; i < kTokenHalfBytes; ++i) {
    token.agents[i] = i;
    token.collectors[i] = static_cast<uint8_t>(100 + i);
  }
  options_.token = token;
  Start();
  TestRing ring;
  AgentHello hello = MakeHello(ring.bytes());
  const auto greet = [&] {
    const UniqueFd connection = ConnectTo(options_.socket_path);
    EXPECT_TRUE(SendPacket(connection.get(), &hello, sizeof(hello), {ring.fd()}));
    return ReceiveWelcome(connection.get()).value_or(AgentWelcome{});
  };
  const AgentWelcome nothing_shown = greet();
  EXPECT_EQ(nothing_shown.accepted, 0u);
  std::copy(std::begin(token.agents), std::end(token.agents), hello.token);
  hello.token[15] ^= 1;
  const AgentWelcome nearly = greet();
  EXPECT_EQ(nearly.accepted, 0u);
  for (const AgentWelcome& refusal : {nothing_shown, nearly}) {
    EXPECT_THAT(refusal.token, ::testing::Each(0)) << "the other half is not given away";
  }
  hello.token[15] ^= 1;
  const AgentWelcome welcome = greet();
  EXPECT_EQ(welcome.accepted, 1u);
  EXPECT_TRUE(IsSameHalf(welcome.token, token.collectors));
  ring.header().producer.ended = 1;
  const SessionResult result = Finish();
  EXPECT_EQ(result.agents, 1u);
  EXPECT_THAT(Notices(), Contains(HasSubstr("2 agents were refused: it does not know this run's")));
}

TEST_F(SessionTest, DropsABrokenProducerAndSaysSo) {
  Start();
  AgentProcess broken(options_.socket_path);
  AgentProcess good(options_.socket_path);
  ASSERT_TRUE(broken.ring().Write(FRAME_COPIES, ""));
  broken.ring().Publish(uint64_t{1} << 60);
  broken.Kill();
  ASSERT_TRUE(good.ring().Write(FRAME_LAUNCHES, ""));
  good.Kill();
  const SessionResult result = Finish();
  EXPECT_EQ(result.agents, 2u);
  EXPECT_EQ(Recorded<LaunchBatch>(FRAME_LAUNCHES).size(), 1u);
  EXPECT_THAT(Notices(), Contains(HasSubstr("stopped making sense (write position)")));
  std::vector<std::string> how;
  for (const ProcessEnd& end : Recorded<ProcessEnd>(FRAME_PROCESS_END)) how.push_back(end.how());
  EXPECT_THAT(how, ::testing::UnorderedElementsAre("broken", "vanished"));
}

TEST_F(SessionTest, AsksProcessesThatOutliveTheCommandToSleepAndNamesThem) {
  Start();
  AgentProcess agent(options_.socket_path);
  ASSERT_TRUE(agent.welcome().has_value());
  Finish();
  EXPECT_THAT(Notices(), Contains(HasSubstr("Still running when the profile was closed: process " +
                                            std::to_string(agent.pid()))));
  const RingControl& control = agent.ring().header().control;
  EXPECT_EQ(control.requested_state, static_cast<uint32_t>(AgentState::kInactive));
  EXPECT_EQ(control.request, 1u);
  const auto ends = Recorded<ProcessEnd>(FRAME_PROCESS_END);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].how(), "running");
}

TEST_F(SessionTest, ASecondAgentOfOneProcessEndsTheFirst) {
  Start();
  TestRing rings[2];
  for (TestRing& ring : rings) {
    const UniqueFd connection = ConnectTo(options_.socket_path);
    ASSERT_TRUE(SendHello(connection.get(), ring.bytes(), ring.fd()));
    ASSERT_TRUE(ReceiveWelcome(connection.get()).has_value());
  }
  rings[1].header().producer.ended = 1;
  EXPECT_EQ(Finish().agents, 2u);
  const auto ends = Recorded<ProcessEnd>(FRAME_PROCESS_END);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].how(), "exec");
  EXPECT_EQ(ends[1].how(), "exit");
}

TEST_F(SessionTest, SaysWhyAnAgentIsOff) {
  Start();
  AgentProcess first(options_.socket_path);
  AgentProcess second(options_.socket_path);
  for (AgentProcess* agent : {&first, &second}) {
    RingProducer& producer = agent->ring().header().producer;
    producer.reason = static_cast<uint32_t>(AgentReason::kCuptiTooOld);
    producer.state = static_cast<uint32_t>(AgentState::kOff);
    agent->Kill();
  }
  Finish();
  EXPECT_THAT(Notices(), ElementsAre(::testing::AllOf(HasSubstr("Not traced: 2 processes"),
                                                      HasSubstr("older than 12.6"))));
}

TEST_F(SessionTest, RefusesAnotherRelease) {
  Start();
  const UniqueFd connection = ConnectTo(options_.socket_path);
  const TestRing ring;
  AgentHello hello = MakeHello(ring.bytes());
  hello.abi_version = kAgentAbiVersion + 1;
  ASSERT_TRUE(SendPacket(connection.get(), &hello, sizeof(hello), {ring.fd()}));
  const std::optional<AgentWelcome> welcome = ReceiveWelcome(connection.get());
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->accepted, 0u);
  const SessionResult result = Finish(
      {.exit_status = 0, .explain_absence = [] { return std::vector<std::string>{"no CUDA"}; }});
  EXPECT_EQ(result.agents, 0u);
  EXPECT_THAT(Notices(), ElementsAre(HasSubstr("another utlz release")));
}

// An agent may hand over its first launches when the session ends.
TEST_F(SessionTest, AsksWhyThereIsNoKernelOnlyWhereNoneWasHandedOver) {
  const CommandOutcome outcome = {
      .exit_status = 0, .explain_silence = [] { return std::vector<std::string>{"silent"}; }};
  Start();
  AgentProcess agent(options_.socket_path);
  DecodedLaunches launches;
  const uint64_t now_ns = RealtimeNs();
  launches.launches = {
      {.start_ns = now_ns, .end_ns = now_ns + 1000, .variant = 0, .correlation = 0}};
  launches.segments.push_back({.launches = 1, .stream = 7, .context = 1, .graph_correlation = 0});
  ASSERT_TRUE(agent.ring().Write(FRAME_LAUNCHES, EncodeLaunches(launches).SerializeAsString()));
  agent.Kill();
  Finish(outcome);
  EXPECT_THAT(Notices(), ::testing::Not(Contains("silent")));
}

TEST_F(SessionTest, SaysWhyThereIsNoKernel) {
  Start();
  AgentProcess agent(options_.socket_path);
  agent.Kill();
  Finish({.exit_status = 0, .explain_silence = [] { return std::vector<std::string>{"silent"}; }});
  EXPECT_THAT(Notices(), Contains("silent"));
}

TEST_F(SessionTest, RefusesARingThatIsNotSealed) {
  Start();
  const UniqueFd connection = ConnectTo(options_.socket_path);
  const TestRing ring({.seals = 0});
  ASSERT_TRUE(SendHello(connection.get(), ring.bytes(), ring.fd()));
  const std::optional<AgentWelcome> welcome = ReceiveWelcome(connection.get());
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->accepted, 0u);
  Finish();
  EXPECT_THAT(Notices(), ElementsAre(HasSubstr("not sealed")));
}

// Waits for the collector's thread, as long as the test may last.
void AwaitState(TestRing* ring, AgentState state) {
  while (ring->header().control.request == 0 ||
         ring->header().control.requested_state != static_cast<uint32_t>(state)) {
    sched_yield();
  }
}

TEST_F(SessionTest, WakesAgentsAfterTheDelayAndLetsThemSleepAfterTheDuration) {
  options_.delay_ms = 300;
  options_.duration_ms = 50;
  Start();
  AgentProcess agent(options_.socket_path);
  ASSERT_TRUE(agent.welcome().has_value());
  EXPECT_EQ(agent.welcome()->state, static_cast<uint32_t>(AgentState::kInactive));
  AwaitState(&agent.ring(), AgentState::kTracing);
  AwaitState(&agent.ring(), AgentState::kInactive);
  AgentProcess late(options_.socket_path);
  ASSERT_TRUE(late.welcome().has_value());
  EXPECT_EQ(late.welcome()->state, static_cast<uint32_t>(AgentState::kInactive));
  session_->RequestState(AgentState::kTracing);
  AwaitState(&late.ring(), AgentState::kTracing);
  agent.Kill();
  late.Kill();
  Finish();
}

TEST_F(SessionTest, GivesARingsMemoryBackWhenItsProcessIsGone) {
  Start();
  for (int i = 0; i < 50; ++i) AgentProcess(options_.socket_path).Kill();
  EXPECT_EQ(Finish().agents, 50u);
  EXPECT_EQ(Recorded<ProcessEnd>(FRAME_PROCESS_END).size(), 50u);
  EXPECT_EQ(ReadWholeFile("/proc/self/maps").find("test-ring"), std::string::npos);
}

TEST_F(SessionTest, GoesOnWithoutAProfileWhenTheDiskIsFull) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    Start();
    AgentProcess agent(options_.socket_path);
    const rlimit limit = {50'000, 50'000};  // only now: the ring is a file too
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 100; ++i) {
      while (!agent.ring().Write(30, std::string(4'000, static_cast<char>(i)))) sched_yield();
    }
    agent.Kill();
    const SessionResult result = Finish();
    _exit(result.agents == 1 && result.write_failure ? 0 : 1);
  }
  int wait_status = 0;
  waitpid(child, &wait_status, 0);
  EXPECT_EQ(wait_status, 0);
  EXPECT_GT(ReadWholeFile(options_.profile_path).size(), 40'000u);
}

TEST_F(SessionTest, RefusesAnOutputThatCannotBeWrittenBeforeListening) {
  options_.profile_path = folder_.File("no/such/folder.utlz");
  EXPECT_FALSE(Session::Start(options_).ok());
  EXPECT_NE(access(options_.socket_path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace utlz
