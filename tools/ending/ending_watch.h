// Ends a command at the second Ctrl-C, whatever its threads do: a thread of its own waits for the
// signals by which a user ends a program, and leaves the process by itself.
//
// Commands that block no signals need none: the first one ends them. `utlz run` and `utlz attach`
// block them, the one because they belong to the command that it runs, the other to end an
// attachment in order. What they were writing stays: a profile can be read up to what was last
// flushed.
#ifndef UTLZ_TOOLS_ENDING_ENDING_WATCH_H_
#define UTLZ_TOOLS_ENDING_ENDING_WATCH_H_

#include <signal.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace utlz {

// SIGINT, SIGTERM, SIGHUP and SIGQUIT.
sigset_t EndingSignals();

struct EndingWatchOptions {
  bool first_came = false;              // before this watch began: the next one ends the process
  std::string at_first = {};            // a sentence for the first one; empty: none
  std::string at_second = {};           // what is left behind
  std::vector<std::string> files = {};  // to be removed at the second one, before the folder
  std::string folder = {};              // the same; empty: none
};

// While it lives, the first ending signal is only noted, and the second ends the process with the
// status 128 + signal. Make it where EndingSignals() are blocked, and before threads that could
// take them. Thread safety: any thread.
class EndingWatch {
 public:
  explicit EndingWatch(EndingWatchOptions options = {});
  EndingWatch(const EndingWatch&) = delete;
  EndingWatch& operator=(const EndingWatch&) = delete;
  ~EndingWatch();

  // Whether a signal has come.
  bool Came() const { return came_; }
  // The same, after `wait` at most.
  bool ComesWithin(std::chrono::milliseconds wait) const;

 private:
  void Watch();
  void Take(int signal_number);

  const EndingWatchOptions options_;
  int signals_;
  int noted_;  // readable once a signal has come
  int over_;
  std::atomic<bool> came_;
  std::thread thread_;
};

// While one lives, the second signal waits: another process is in our hands, and would be harmed.
class EndingHeldOff {
 public:
  EndingHeldOff();
  EndingHeldOff(const EndingHeldOff&) = delete;
  EndingHeldOff& operator=(const EndingHeldOff&) = delete;
  ~EndingHeldOff();
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_ENDING_ENDING_WATCH_H_
