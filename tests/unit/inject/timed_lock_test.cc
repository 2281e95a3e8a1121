// In a program of its own: its clock_gettime() shows a clock of the day that is an hour ahead of
// the kernel's, as one that is set back by an hour right after it was read.
#include "inject/base/timed_lock.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) time->tv_sec += 3600;
  return result;
}

namespace utlz::agent {
namespace {

constexpr uint64_t kPatienceNs = 20'000'000;

TEST(TimedLock, AClockThatIsSetBackDoesNotProlongTheWait) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  std::promise<bool> promise;
  std::future<bool> locked = promise.get_future();
  std::thread waiter([&] {
    const bool had = LockWithin(&mutex, kPatienceNs);
    if (had) pthread_mutex_unlock(&mutex);
    promise.set_value(had);
  });
  // Generous: the defect is an hour.
  const bool returned = locked.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  pthread_mutex_unlock(&mutex);
  waiter.join();
  ASSERT_TRUE(returned);
  EXPECT_FALSE(locked.get());
}

TEST(TimedLock, TakesWhatIsFree) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_TRUE(LockWithin(&mutex, kPatienceNs));
  pthread_mutex_unlock(&mutex);
}

}  // namespace
}  // namespace utlz::agent
