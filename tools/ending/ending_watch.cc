#include "tools/ending/ending_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include "collector/quiet_thread.h"

namespace utlz {
namespace {

// Shared by those who hold the end off, exclusively by who ends.
std::shared_mutex& EndingMutex() {
  static auto* const mutex = new std::shared_mutex();
  return *mutex;
}

// Not by stdio, whose lock a thread that is stuck may hold.
void Say(int stream, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(stream, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

void SayLine(const std::string& sentence) {
  if (!sentence.empty()) Say(STDERR_FILENO, "utlz: " + sentence + "\n");
}

// A report may be halfway through a word in color.
void ResetColors() {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (isatty(stream) != 0) Say(stream, "\033[0m");
  }
}

}  // namespace

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, each);
  return signals;
}

EndingWatch::EndingWatch(EndingWatchOptions options)
    : options_(std::move(options)), came_(options_.first_came) {
  sigset_t watched = EndingSignals();
  // Under nohup, which is to outlive its terminal. (A script's "&" ignores SIGINT as well, but who
  // sends that to it by name means it.)
  struct sigaction hang_up = {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler == SIG_IGN) {
    sigdelset(&watched, SIGHUP);
  }
  signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  noted_ = eventfd(came_ ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
  over_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = StartQuietThread("utlz-signals", [this] { Watch(); });
}

EndingWatch::~EndingWatch() {
  eventfd_write(over_, 1);
  thread_.join();
  for (const int descriptor : {signals_, noted_, over_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

bool EndingWatch::ComesWithin(std::chrono::milliseconds wait) const {
  pollfd event = {noted_, POLLIN, 0};
  poll(&event, 1, static_cast<int>(wait.count()));
  return came_;
}

void EndingWatch::Watch() {
  pollfd events[] = {{signals_, POLLIN, 0}, {over_, POLLIN, 0}};
  while (true) {
    if (poll(events, 2, -1) < 0) continue;
    if (events[1].revents != 0) return;
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      Take(static_cast<int>(info.ssi_signo));
    }
  }
}

void EndingWatch::Take(int signal_number) {
  if (!came_.exchange(true)) {
    eventfd_write(noted_, 1);
    return SayLine(options_.at_first);
  }
  EndingMutex().lock();
  for (const std::string& file : options_.files) unlink(file.c_str());
  if (!options_.folder.empty()) rmdir(options_.folder.c_str());
  ResetColors();
  SayLine(options_.at_second);
  _exit(128 + signal_number);
}

EndingHeldOff::EndingHeldOff() { EndingMutex().lock_shared(); }
EndingHeldOff::~EndingHeldOff() { EndingMutex().unlock_shared(); }

}  // namespace utlz
