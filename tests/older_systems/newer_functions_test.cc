// cmake/older_glibc/newer_functions.c does what a newer C library's functions do. Linked as the
// program is: these very functions are called, not this machine's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

extern char** environ;

namespace utlz {
namespace {

TEST(NewerFunctionsTest, ReadsAFilesState) {
  struct stat by_name;
  struct stat by_descriptor;
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(stat("/proc/self/exe", &by_name), 0);
  ASSERT_EQ(fstat(fd, &by_descriptor), 0);
  EXPECT_EQ(by_name.st_ino, by_descriptor.st_ino);
  EXPECT_EQ(by_name.st_size, lseek(fd, 0, SEEK_END));
  EXPECT_TRUE(S_ISREG(by_name.st_mode));
  struct stat link;
  ASSERT_EQ(lstat("/proc/self/exe", &link), 0);
  EXPECT_TRUE(S_ISLNK(link.st_mode));
  ASSERT_EQ(fstatat(AT_FDCWD, "/proc/self/exe", &link, AT_SYMLINK_NOFOLLOW), 0);
  EXPECT_TRUE(S_ISLNK(link.st_mode));
  EXPECT_EQ(stat("/no such file", &by_name), -1);
  EXPECT_EQ(errno, ENOENT);
  close(fd);
}

int Thrower(int number) {
  if (number > 0) throw std::runtime_error("thrown");
  return number;
}

TEST(NewerFunctionsTest, FindsTheFramesOfExceptions) {
  EXPECT_THROW(Thrower(1), std::runtime_error);
  dl_find_object found;
  ASSERT_EQ(_dl_find_object(reinterpret_cast<void*>(&Thrower), &found), 0);
  EXPECT_LE(found.dlfo_map_start, reinterpret_cast<void*>(&Thrower));
  EXPECT_GT(found.dlfo_map_end, reinterpret_cast<void*>(&Thrower));
  EXPECT_NE(found.dlfo_eh_frame, nullptr);
  EXPECT_EQ(_dl_find_object(reinterpret_cast<void*>(8), &found), -1);
}

timespec FromNow(int milliseconds) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_nsec += milliseconds * 1000000L;
  time.tv_sec += time.tv_nsec / 1000000000L;
  time.tv_nsec %= 1000000000L;
  return time;
}

TEST(NewerFunctionsTest, WaitsForAMutexOnlySoLong) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  timespec deadline = FromNow(20);
  EXPECT_EQ(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline), 0);
  std::thread([&mutex] {
    timespec end = FromNow(20);
    EXPECT_EQ(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end), ETIMEDOUT);
    timespec now = FromNow(0);
    EXPECT_GE(now.tv_sec * 1000000000L + now.tv_nsec, end.tv_sec * 1000000000L + end.tv_nsec);
  }).join();
  pthread_mutex_unlock(&mutex);
}

// The exit status of a shell that tries to write to the descriptor.
int StatusOfWriterTo(int fd, const posix_spawn_file_actions_t& actions) {
  std::string script = "true >&" + std::to_string(fd);
  std::string shell = "sh";
  std::string option = "-c";
  char* arguments[] = {shell.data(), option.data(), script.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, "/bin/sh", &actions, nullptr, arguments, environ) != 0) return -1;
  int status = 0;
  return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

TEST(NewerFunctionsTest, ClosesTheDescriptorsOfAChild) {
  const int lower = open("/dev/null", O_WRONLY);
  ASSERT_LT(lower, 8);
  ASSERT_EQ(dup2(lower, 9), 9);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  EXPECT_EQ(StatusOfWriterTo(9, actions), 0);
  EXPECT_EQ(posix_spawn_file_actions_addclosefrom_np(&actions, 8), 0);
  EXPECT_NE(StatusOfWriterTo(9, actions), 0);
  EXPECT_EQ(StatusOfWriterTo(lower, actions), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(9);
  close(lower);
}

}  // namespace
}  // namespace utlz
