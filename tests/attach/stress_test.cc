// A thousand loads into fresh processes: never one death, hang, changed output or exit status.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdlib>
#include <string>

#include "tests/attach/probe_protocol.h"
#include "tests/attach/target_process.h"
#include "tools/attach/loader.h"

namespace utlz::attach {
namespace {

constexpr const char* kPrograms[] = {"epoll",         "registers",    "allocate-sleep", "timer",
                                     "fork-allocate", "dlopen-sleep", "poll-timeout",   "user-ids"};
constexpr int kShards = 4;

// UTLZ_ATTACH_LOADS: loads of all shards together.
int LoadsPerShard() {
  const char* loads = std::getenv("UTLZ_ATTACH_LOADS");
  return (loads == nullptr ? 1000 : std::atoi(loads)) / kShards;
}

void LoadOnce(const char* program) {
  TargetProcess target(program);
  ASSERT_TRUE(target.WaitUntilReady());
  LoadOptions options;
  options.search_time = std::chrono::seconds(60);
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), options);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ProbeHello hello = {};
  ASSERT_EQ(recv(loaded->socket.get(), &hello, sizeof(hello), 0),
            static_cast<ssize_t>(sizeof(hello)));
  ASSERT_TRUE(target.WakeAndWaitForProgress());
  ASSERT_EQ(target.Finish(), 0);
  ASSERT_EQ(target.Output(), std::string(program) + " ended with 0\n");
}

class StressTest : public testing::TestWithParam<int> {};

TEST_P(StressTest, FreshProcesses) {
  for (int i = 0; i < LoadsPerShard(); ++i) {
    const char* program = kPrograms[static_cast<size_t>(i + GetParam()) % std::size(kPrograms)];
    SCOPED_TRACE(std::string(program) + " in round " + std::to_string(i));
    LoadOnce(program);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, StressTest, testing::Range(0, kShards));

}  // namespace
}  // namespace utlz::attach
