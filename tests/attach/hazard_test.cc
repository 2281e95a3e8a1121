// What may happen while the library is being loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/attach/probe_protocol.h"
#include "tests/attach/target_process.h"
#include "tools/attach/loader.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

LoadOptions Patient(const std::string& parameters) {
  LoadOptions options;
  options.search_time = std::chrono::seconds(60);
  options.stop_limit = std::chrono::milliseconds(500);
  options.parameters = parameters;
  return options;
}

// A load whose constructor waits for the test, on a thread of its own.
class HeldLoad {
 public:
  explicit HeldLoad(TargetProcess& target) : target_(target) {
    target.control().hold_constructor = 1;
    const pid_t pid = target.pid();
    thread_ = std::thread([this, pid] {
      auto loaded = LoadIntoProcess(pid, ProbeLibrary(), Patient("hold"));
      status_ = loaded.status();
      if (loaded.ok()) socket_ = std::move(loaded->socket);
    });
  }
  ~HeldLoad() {
    if (thread_.joinable()) Release().IgnoreError();
  }
  bool WaitUntilEntered() const {
    return target_.WaitUntil([this] { return target_.control().entered_constructor != 0; });
  }
  absl::Status Release() {
    target_.control().hold_constructor = 0;
    return Join();
  }
  absl::Status Join() {
    thread_.join();
    return status_;
  }

 private:
  TargetProcess& target_;
  std::thread thread_;
  absl::Status status_;
  UniqueFd socket_;
};

TEST(HazardTest, SignalComesAfterTheCall) {
  TargetProcess target("pause");
  ASSERT_TRUE(target.WaitUntilReady());
  HeldLoad load(target);
  ASSERT_TRUE(load.WaitUntilEntered());
  target.control().stop = 1;
  kill(target.pid(), SIGUSR1);
  EXPECT_EQ(target.control().progress, 0u);
  EXPECT_TRUE(load.Release().ok());
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.control().progress, 1u);
}

TEST(HazardTest, TimerTicksGoOnAfterwards) {
  TargetProcess target("timer");
  ASSERT_TRUE(target.WaitUntilReady());
  HeldLoad load(target);
  ASSERT_TRUE(load.WaitUntilEntered());
  EXPECT_TRUE(load.Release().ok());
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.Finish(), 0);
}

// Another thread that changes user ids waits for the lent one, also during the call.
TEST(HazardTest, UserIdsChangeDuringTheCall) {
  TargetProcess target("user-ids");
  ASSERT_TRUE(target.WaitUntilReady());
  HeldLoad load(target);
  ASSERT_TRUE(load.WaitUntilEntered());
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_TRUE(load.Release().ok());
  EXPECT_EQ(target.Finish(), 0);
}

TEST(HazardTest, StopSignalDuringTheCall) {
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  HeldLoad load(target);
  ASSERT_TRUE(load.WaitUntilEntered());
  kill(target.pid(), SIGSTOP);
  EXPECT_TRUE(load.Release().ok());
  // Let go, the lent thread joins the stop that the process is in.
  EXPECT_TRUE(target.WaitUntil([&] { return ThreadState(target.pid(), target.pid()) == 'T'; }));
  kill(target.pid(), SIGCONT);
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.Finish(), 0);
}

TEST(HazardTest, TargetIsKilledDuringTheCall) {
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  HeldLoad load(target);
  ASSERT_TRUE(load.WaitUntilEntered());
  kill(target.pid(), SIGKILL);
  EXPECT_EQ(load.Join().code(), absl::StatusCode::kNotFound);
}

// The tool is killed while the library is being loaded: the trampoline takes the thread back to
// where it was, with all its registers. A wait whose remaining time only the kernel knew may end
// with EINTR.
class ToolDeathTest : public testing::TestWithParam<const char*> {};

TEST_P(ToolDeathTest, TargetGoesOn) {
  TargetProcess target(GetParam());
  ASSERT_TRUE(target.WaitUntilReady());
  target.control().hold_constructor = 1;
  target.control().allow_interrupt = 1;
  ProbeLibrary();
  const pid_t tool = fork();
  if (tool == 0) {
    const bool loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient("hold")).ok();
    _exit(loaded ? 0 : 1);
  }
  ASSERT_TRUE(target.WaitUntil([&] { return target.control().entered_constructor != 0; }));
  kill(tool, SIGKILL);
  waitpid(tool, nullptr, 0);
  target.control().hold_constructor = 0;
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.StatusField("SigBlk"), "0000000000000000");
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.Output(), std::string(GetParam()) + " ended with 0\n");
}

INSTANTIATE_TEST_SUITE_P(Programs, ToolDeathTest,
                         testing::Values("registers", "read", "receive", "select",
                                         "sleep-absolute"));

TEST(HazardTest, LibraryCrashesInItsConstructor) {
  TargetProcess target("registers");
  ASSERT_TRUE(target.WaitUntilReady());
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient("crash"));
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss) << loaded.status();
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.StatusField("TracerPid"), "0");
  EXPECT_EQ(target.Finish(), 0);
}

// Another thread closes every descriptor, again and again, ours among them.
TEST(HazardTest, DescriptorsAreClosedByRange) {
  for (int i = 0; i < 10; ++i) {
    TargetProcess target("close-range");
    ASSERT_TRUE(target.WaitUntilReady());
    LoadOptions options = Patient("");
    options.search_time = std::chrono::milliseconds(200);
    const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), options);
    if (!loaded.ok()) {
      EXPECT_THAT(std::string(loaded.status().message()),
                  testing::AnyOf(testing::HasSubstr("closed a descriptor of ours"),
                                 testing::HasSubstr("cannot fetch a descriptor"),
                                 testing::HasSubstr("did not arrive"),
                                 testing::HasSubstr("cannot send the library"),
                                 testing::HasSubstr("could not receive the library"),
                                 testing::HasSubstr("loader refused the library"),
                                 testing::HasSubstr("could be lent within 200 ms")));
    }
    EXPECT_TRUE(target.WakeAndWaitForProgress());
    EXPECT_EQ(target.Finish(), 0);
  }
}

// What has taken a number of ours since is not closed.
TEST(HazardTest, ReusedDescriptorsStayOpen) {
  TargetProcess target("reuse-descriptors");
  ASSERT_TRUE(target.WaitUntilReady());
  HeldLoad load(target);
  ASSERT_TRUE(load.WaitUntilEntered());
  ASSERT_TRUE(target.WaitUntil([&] { return target.control().reused_numbers != 0; }));
  EXPECT_TRUE(load.Release().ok());
  EXPECT_EQ(target.Finish(), 0);
}

// While a load waits, the caller hears of it.
TEST(HazardTest, CallerHearsOfALongCall) {
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  target.control().hold_constructor = 1;
  int reports = 0;
  LoadOptions options = Patient("hold");
  options.on_waiting = [&](std::chrono::milliseconds) {
    ++reports;
    target.control().hold_constructor = 0;
  };
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), options);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_GE(reports, 1);
  EXPECT_EQ(target.Finish(), 0);
}

}  // namespace
}  // namespace utlz::attach
