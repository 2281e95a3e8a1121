// Who holds CUPTI's buffer callbacks? Another client (torch.profiler) takes them over with a call
// that CUPTI reports to no one. libcupti keeps the two pointers side by side in its data segment.
// We look for them once, right after our own registration, and then only read them.
#ifndef UTLZ_INJECT_TRACING_REGISTRATION_H_
#define UTLZ_INJECT_TRACING_REGISTRATION_H_

#include "inject/driver/cupti_api.h"

namespace utlz::agent {

class Registration {
 public:
  // Registers the callbacks and finds where libcupti put them.
  cupti::Result Register(const CuptiApi& api, cupti::BufferRequested requested,
                         cupti::BufferCompleted completed);
  // The same in a process that has run for a while: callbacks of another client that are in place
  // already, whether it is tracing or has been, are put back at once, and Ours() is false.
  cupti::Result RegisterUnlessHeld(const CuptiApi& api, cupti::BufferRequested requested,
                                   cupti::BufferCompleted completed);
  // False only where another client's callbacks are known to be in place.
  bool Ours() const;
  // Whether libcupti keeps them where they can be seen.
  bool Observable() const { return place_ != nullptr; }
  // An address inside the code of the client whose callbacks are in place; 0 where that is not
  // known.
  uintptr_t Holder() const { return place_ == nullptr ? 0 : Held(0); }

 private:
  // Another thread may be registering its own at this moment.
  uintptr_t Held(int which) const { return __atomic_load_n(place_ + which, __ATOMIC_ACQUIRE); }

  cupti::BufferRequested requested_ = nullptr;
  cupti::BufferCompleted completed_ = nullptr;
  const uintptr_t* place_ = nullptr;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_REGISTRATION_H_
