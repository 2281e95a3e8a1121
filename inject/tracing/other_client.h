// Another CUPTI client in the process that took the buffer callbacks over: when is it done?
//
// Nothing in CUPTI says so. What can be seen is the client's own calls, where they go through
// memory of its module: the import slots of a module that is linked to CUPTI (watched as soon as it
// is loaded, so that no window is too short to be seen), and static variables that hold what dlsym
// returned (replaced once the client has taken over). These are pointed at observers that note the
// time and call CUPTI. A client that keeps such pointers elsewhere is never seen to be done, and
// then the gap lasts to the end of the process.
//
// A client that registers its buffer callbacks finds none of our buffers in CUPTI, which would go
// on filling them with what is the client's.
//
// A client that subscribes to CUPTI's callbacks finds them free: CUPTI has one subscriber, and if
// that is us at the moment (range_session.h), the observer has us give up first.
//
// A client may also tear CUPTI down (torch.profiler with TEARDOWN_CUPTI=1, from a callback on one
// of the program's threads). No call of ours may be inside CUPTI meanwhile, so the observer waits
// for our thread's turn to end first.
#ifndef UTLZ_INJECT_TRACING_OTHER_CLIENT_H_
#define UTLZ_INJECT_TRACING_OTHER_CLIENT_H_

#include <pthread.h>

#include <cstdint>

#include "inject/driver/cupti_api.h"

namespace utlz::agent {

// Our thread only, which holds `turn_mutex` whenever it may call CUPTI.
class OtherClient {
 public:
  // Both functions are called on the client's thread, with `turn_mutex` held.
  using GiveWay = void (*)();
  // `give_way` gives our subscription up, before the other client subscribes.
  static void OnSubscription(GiveWay give_way);
  // `empty_buffers` takes our buffers back from CUPTI, before the other client registers its own.
  static void OnRegistration(GiveWay empty_buffers);

  // Watches every module that is linked to CUPTI; cheap where none was loaded since.
  void WatchImporters(const CuptiApi& api, pthread_mutex_t* turn_mutex);
  // Watches the module that `code_address` lies in, which has taken over; 0: nobody's.
  void Watch(const CuptiApi& api, uintptr_t code_address, pthread_mutex_t* turn_mutex);
  // We have the buffers again: what it did so far says nothing about its next window.
  void Forget();
  // Whether its last word, at least `quiet_ns` ago, was to switch kernel records off or to tear
  // CUPTI down.
  bool DoneFor(uint64_t now_monotonic_ns, uint64_t quiet_ns) const;
  // Whether CUPTI was torn down since that was last taken.
  bool TornDown() const;
  bool TakeTornDown();

 private:
  uint64_t modules_seen_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_OTHER_CLIENT_H_
