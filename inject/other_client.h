// Another CUPTI client in the process that took the buffer callbacks over: when is it done?
//
// Nothing in CUPTI says so. What can be seen is the client's own calls, through the slots of its
// module by which it calls CUPTI: once a client has taken over, and only then, those slots are
// pointed at observers that note the time and call CUPTI. A client that finds its functions by
// dlsym has no such slots; then it is never held to be done, and the gap lasts to the end of the
// process.
//
// A client may also tear CUPTI down (torch.profiler with TEARDOWN_CUPTI=1, from a callback on one of
// the program's threads). No call of ours may be inside CUPTI meanwhile, so the observer waits for
// our thread's turn to end first.
#ifndef UTLZ_INJECT_OTHER_CLIENT_H_
#define UTLZ_INJECT_OTHER_CLIENT_H_

#include <pthread.h>

#include <cstdint>

#include "inject/cupti_api.h"

namespace utlz::inject {

class OtherClient {
 public:
  // Begins to watch the module that `code_address` lies in; 0: nobody's. Our thread only, which holds
  // `turn_mutex` whenever it may call CUPTI.
  void Watch(const CuptiApi& api, uintptr_t code_address, pthread_mutex_t* turn_mutex);
  // Whether its last word, at least `quiet_ns` ago, was to switch kernel records off or to tear
  // CUPTI down.
  bool DoneFor(uint64_t now_monotonic_ns, uint64_t quiet_ns) const;
  // Whether CUPTI was torn down since the last time that this was asked.
  bool TakeTornDown();
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_OTHER_CLIENT_H_
