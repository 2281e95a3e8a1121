// Turns of the agent's thread: in a turn it may call CUPTI, between two it does not. A thread that
// ends the process, or another client's, waits for the end of a turn, for a limited time.
//
// Thread-safe.
#ifndef UTLZ_INJECT_BASE_TURNS_H_
#define UTLZ_INJECT_BASE_TURNS_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "inject/base/timed_lock.h"

namespace utlz::agent {

class Turns {
 public:
  // Calls `turn` and returns what it returned; false, without a call, once turns have ended.
  // Agent's thread.
  template <typename Function>
  bool Take(Function turn) {
    pthread_mutex_lock(&mutex_);
    const bool result = !ended_ && turn();
    pthread_mutex_unlock(&mutex_);
    return result;
  }

  // Calls `function` between two turns; not at all if the present turn lasts longer than
  // `patience_ns`.
  template <typename Function>
  void Between(uint64_t patience_ns, Function function) {
    if (!LockWithin(&mutex_, patience_ns)) return;
    function();
    pthread_mutex_unlock(&mutex_);
  }

  // The same, and not at all once turns have ended. False where it was not called.
  template <typename Function>
  bool TakeWithin(uint64_t patience_ns, Function function) {
    if (ended_ || !LockWithin(&mutex_, patience_ns)) return false;
    const bool takes = !ended_;
    if (takes) function();
    pthread_mutex_unlock(&mutex_);
    return takes;
  }

  // The process ends: no turn from now on. False where our thread is still in one, and then it may
  // be inside CUPTI.
  bool End(uint64_t patience_ns) {
    const bool locked = LockWithin(&mutex_, patience_ns);
    ended_ = true;
    if (locked) pthread_mutex_unlock(&mutex_);
    return locked;
  }
  // In a child of fork, where there is nothing to wait for.
  void EndInChild() { ended_ = true; }
  bool ended() const { return ended_; }

  // For other_client.h, whose observers know nothing of this class.
  pthread_mutex_t* mutex() { return &mutex_; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> ended_{false};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_TURNS_H_
