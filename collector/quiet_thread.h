// Starts threads that take no signals: these are for the threads that wait for them.
#ifndef UTLZ_COLLECTOR_QUIET_THREAD_H_
#define UTLZ_COLLECTOR_QUIET_THREAD_H_

#include <pthread.h>
#include <signal.h>

#include <functional>
#include <thread>
#include <utility>

namespace utlz {

// `name`: 15 characters at most, as `top -H` shows it. Throws std::system_error where the system
// gives no thread.
inline std::thread StartQuietThread(const char* name, std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(work));
    pthread_setname_np(thread.native_handle(), name);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_QUIET_THREAD_H_
