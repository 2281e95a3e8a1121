#include "inject/base/main_thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace utlz::agent {
namespace {

bool thread_ended = false;

// Exits with 3 where the main thread's end was told before anything of the process's, else with 4.
void ExitInOrder() {
  CallWhenThisThreadEnds([] { thread_ended = true; });
  std::atexit([] { _exit(thread_ended ? 3 : 4); });
  std::exit(0);
}

TEST(MainThread, ItsEndComesBeforeWhatWasRegisteredLaterForTheProcess) {
  EXPECT_EXIT(ExitInOrder(), testing::ExitedWithCode(3), "");
}

TEST(MainThread, IsNoOther) {
  EXPECT_TRUE(OnMainThread());
  bool other = true;
  std::thread([&] { other = OnMainThread(); }).join();
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace utlz::agent
