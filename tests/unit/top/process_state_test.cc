#include "tools/top/process_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/nanoseconds.h"

namespace utlz::top {
namespace {

TEST(ProcessStates, KnowsThisProcess) {
  ProcessStates states;
  ProcessSnapshot process = {.pid = getpid()};
  states.Read(kSecondNs, &process);
  EXPECT_EQ(process.user_id, geteuid());
  EXPECT_TRUE(std::count(process.ancestors.begin(), process.ancestors.end(), getppid()) == 1 ||
              getppid() <= 1);
  EXPECT_GT(process.host_memory_bytes.value_or(0), 0u);
  EXPECT_GE(process.age_seconds.value_or(-1), 0);
  EXPECT_FALSE(process.cpu_percent);  // not over any time yet
  states.EndTick();
  states.Read(2 * kSecondNs, &process);
  EXPECT_GE(process.cpu_percent.value_or(-1), 0);
  const auto of_this_tick = process.cpu_percent;
  states.Read(2 * kSecondNs, &process);  // on another GPU
  EXPECT_EQ(process.cpu_percent, of_this_tick);
}

TEST(ProcessStates, OneThatIsGoneHasNothing) {
  ProcessStates states;
  ProcessSnapshot process = {.pid = 1 << 22};
  states.Read(kSecondNs, &process);
  EXPECT_FALSE(process.user_id || process.age_seconds || process.host_memory_bytes);
}

}  // namespace
}  // namespace utlz::top
