// Loads that must succeed, in every plain wait and beside every kind of work: the target must not
// notice anything.
#include "tools/attach/loader.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <string>

#include "tests/attach/probe_protocol.h"
#include "tests/attach/target_process.h"

namespace utlz::attach {
namespace {

constexpr int kNotPermitted = 77;

LoadOptions Patient(const std::string& parameters) {
  LoadOptions options;
  // A busy machine may take longer than a user would want to wait.
  options.search_time = std::chrono::seconds(60);
  options.stop_limit = std::chrono::milliseconds(200);
  options.parameters = parameters;
  return options;
}

ProbeHello ReceiveHello(const UniqueFd& socket) {
  ProbeHello hello = {};
  EXPECT_EQ(recv(socket.get(), &hello, sizeof(hello), 0), static_cast<ssize_t>(sizeof(hello)));
  return hello;
}

// Some programs open libraries themselves all the time; ours comes from no file system.
std::map<int, std::string> WithoutLibraryFiles(std::map<int, std::string> descriptors) {
  std::erase_if(descriptors, [](const auto& descriptor) {
    const std::string& path = descriptor.second;
    return path.find(".so") != std::string::npos && !path.starts_with("/memfd:");
  });
  return descriptors;
}

// What is left in the target: the library, its thread's stack, its socket, and nothing else.
void ExpectNothingElseLeft(const TargetProcess& target,
                           const std::map<int, std::string>& all_descriptors_before) {
  const auto descriptors_before = WithoutLibraryFiles(all_descriptors_before);
  const auto descriptors = WithoutLibraryFiles(target.Descriptors());
  int sockets = 0;
  for (const auto& [number, path] : descriptors) {
    if (descriptors_before.contains(number)) {
      EXPECT_EQ(descriptors_before.at(number), path);
      continue;
    }
    EXPECT_EQ(path.substr(0, 7), "socket:") << number;
    EXPECT_GE(number, 128);
    ++sockets;
  }
  EXPECT_EQ(sockets, 1);
  for (const auto& [number, path] : descriptors_before) EXPECT_TRUE(descriptors.contains(number));
  // The trampoline would be executable memory without a file.
  const MemoryMap map = MemoryMap::Parse(target.Maps());
  for (const Mapping& mapping : map.mappings()) {
    EXPECT_FALSE(mapping.executable && mapping.path.empty()) << std::hex << mapping.range.start;
  }
}

void ExpectEcho(const UniqueFd& socket) {
  const std::string message = "are you there?";
  ASSERT_EQ(send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(message.size()));
  std::string answer(64, '\0');
  const ssize_t count = recv(socket.get(), answer.data(), answer.size(), 0);
  EXPECT_EQ(answer.substr(0, static_cast<size_t>(count)), message);
}

class LoadTest : public testing::TestWithParam<const char*> {};

TEST_P(LoadTest, LeavesTargetAsItWas) {
  TargetProcess target(GetParam());
  if (!target.WaitUntilReady()) {
    const int status = target.Finish();
    ASSERT_EQ(WEXITSTATUS(status), kNotPermitted);
    GTEST_SKIP() << "this machine does not permit " << GetParam();
  }
  target.WaitUntilBlocked();
  const auto descriptors_before = target.Descriptors();
  const auto loaded =
      LoadIntoProcess(target.pid(), ProbeLibrary(), Patient("as the tool wrote it"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ProbeHello hello = ReceiveHello(loaded->socket);
  EXPECT_STREQ(hello.parameters, "as the tool wrote it");
  EXPECT_NE(hello.thread_id, static_cast<uint32_t>(loaded->thread_id));
  EXPECT_NE(hello.thread_id, hello.process_id);
  // All but those that cannot be blocked, and the C library's own two.
  EXPECT_EQ(hello.blocked_signals | 0x00000001'80040100u, ~uint64_t{0});
  ExpectNothingElseLeft(target, descriptors_before);
  EXPECT_EQ(target.StatusField("TracerPid"), "0");
  ExpectEcho(loaded->socket);
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  const int status = target.Finish();
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(target.Output(), std::string(GetParam()) + " ended with 0\n");
}

INSTANTIATE_TEST_SUITE_P(Waits, LoadTest,
                         testing::Values("epoll", "epoll-short", "epoll-mask", "poll",
                                         "poll-timeout", "select", "read", "receive", "sleep",
                                         "sleep-absolute", "registers", "errno",
                                         "old-traces"));
INSTANTIATE_TEST_SUITE_P(Work, LoadTest,
                         testing::Values("allocate-sleep", "dlopen-sleep", "fork-allocate",
                                         "timer", "user-ids"));
INSTANTIATE_TEST_SUITE_P(Isolation, LoadTest,
                         testing::Values("chroot-with-proc", "namespaces", "seccomp-permissive"));

// Waits that only a signal ends.
class SignalledWaitTest : public testing::TestWithParam<const char*> {};

TEST_P(SignalledWaitTest, EndsByItsSignalAlone) {
  TargetProcess target(GetParam());
  ASSERT_TRUE(target.WaitUntilReady());
  ASSERT_TRUE(target.WaitUntilBlocked());
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient(""));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ReceiveHello(loaded->socket);
  EXPECT_EQ(target.control().progress, 0u);
  target.control().stop = 1;
  kill(target.pid(), SIGUSR1);
  EXPECT_EQ(target.Finish(), 0);
}

INSTANTIATE_TEST_SUITE_P(Waits, SignalledWaitTest, testing::Values("accept", "pause"));

TEST(LoadTwiceTest, SecondAgentIsRefused) {
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  const auto first = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient(""));
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient(""));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists) << second.status();
  EXPECT_EQ(target.Finish(), 0);
}

}  // namespace
}  // namespace utlz::attach
