#include "tools/ending/ending_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>

namespace utlz {
namespace {

using std::chrono::milliseconds;

// A process that blocks the ending signals, watches for them, and whose main thread does not come
// back: only the watch can end it.
class StuckProcess {
 public:
  // `before` runs in it, before it says that it is ready; what it returns lives as long as it does.
  template <typename Before>
  explicit StuckProcess(EndingWatchOptions options, Before before) {
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      const sigset_t ending = EndingSignals();
      sigprocmask(SIG_BLOCK, &ending, nullptr);
      const EndingWatch watch(std::move(options));
      [[maybe_unused]] const auto held = before();
      Tell(ends[1], 'r');
      // Says that the first signal was noted, then hangs.
      while (!watch.ComesWithin(milliseconds(1000))) {
      }
      Tell(ends[1], 'n');
      while (true) pause();
    }
    close(ends[1]);
    output_ = ends[0];
  }
  explicit StuckProcess(EndingWatchOptions options = {})
      : StuckProcess(std::move(options), [] { return 0; }) {}
  StuckProcess(const StuckProcess&) = delete;
  StuckProcess& operator=(const StuckProcess&) = delete;
  ~StuckProcess() {
    if (pid_ > 0 && !status_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(output_);
  }

  char Read() const {
    char said = 0;
    return read(output_, &said, 1) == 1 ? said : '\0';
  }
  void Send(int signal_number) const { kill(pid_, signal_number); }
  bool Ends(milliseconds within) {
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    pollfd event = {pidfd, POLLIN, 0};
    const bool ended = poll(&event, 1, static_cast<int>(within.count())) == 1;
    close(pidfd);
    if (ended) {
      int status = 0;
      waitpid(pid_, &status, 0);
      status_ = status;
    }
    return ended;
  }
  int status() const { return status_.value_or(0); }

 private:
  static void Tell(int output, char what) {
    if (write(output, &what, 1) != 1) _exit(1);
  }

  pid_t pid_ = 0;
  int output_ = -1;
  std::optional<int> status_;
};

TEST(EndingWatchTest, TheSecondSignalEndsWhatIsStuck) {
  StuckProcess process;
  ASSERT_EQ(process.Read(), 'r');
  process.Send(SIGINT);
  ASSERT_EQ(process.Read(), 'n');
  EXPECT_FALSE(process.Ends(milliseconds(0)));
  process.Send(SIGTERM);
  ASSERT_TRUE(process.Ends(milliseconds(10'000)));
  ASSERT_TRUE(WIFEXITED(process.status()));
  EXPECT_EQ(WEXITSTATUS(process.status()), 128 + SIGTERM);
}

TEST(EndingWatchTest, OneThatCameBeforeIsTheFirst) {
  StuckProcess process({.first_came = true});
  ASSERT_EQ(process.Read(), 'r');
  ASSERT_EQ(process.Read(), 'n');
  process.Send(SIGINT);
  ASSERT_TRUE(process.Ends(milliseconds(10'000)));
  EXPECT_EQ(WEXITSTATUS(process.status()), 128 + SIGINT);
}

TEST(EndingWatchTest, RemovesWhatIsToBeRemoved) {
  std::string folder = testing::TempDir() + "/endingXXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/socket";
  close(open(file.c_str(), O_CREAT | O_CLOEXEC, 0600));
  StuckProcess process({.first_came = true, .files = {file}, .folder = folder});
  ASSERT_EQ(process.Read(), 'r');
  process.Send(SIGINT);
  ASSERT_TRUE(process.Ends(milliseconds(10'000)));
  EXPECT_NE(access(folder.c_str(), F_OK), 0);
}

// Another process is in its hands, for ever here.
TEST(EndingWatchTest, WaitsWhileItIsHeldOff) {
  StuckProcess process({.first_came = true}, [] { return new EndingHeldOff(); });
  ASSERT_EQ(process.Read(), 'r');
  process.Send(SIGINT);
  EXPECT_FALSE(process.Ends(milliseconds(300)));
}

TEST(EndingWatchTest, NoSignalNoEnd) {
  const EndingWatch watch;
  EXPECT_FALSE(watch.Came());
  EXPECT_FALSE(watch.ComesWithin(milliseconds(1)));
}

}  // namespace
}  // namespace utlz
