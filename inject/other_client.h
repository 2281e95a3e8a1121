// Another CUPTI client in the process that took the buffer callbacks over: when is it done?
//
// Nothing in CUPTI says so. What can be seen is the client's own call of cuptiActivityDisable for
// kernels, through the one slot of its module by which it calls that function: once a client has
// taken over, and only then, that slot is pointed at an observer that notes the time and calls
// CUPTI. A client that finds its functions by dlsym has no such slot; then it is never held to be
// done, and the gap lasts to the end of the process.
#ifndef UTLZ_INJECT_OTHER_CLIENT_H_
#define UTLZ_INJECT_OTHER_CLIENT_H_

#include <cstdint>

#include "inject/cupti_api.h"

namespace utlz::inject {

class OtherClient {
 public:
  // Begins to watch the module that `code_address` lies in. Agent's thread only.
  void Watch(const CuptiApi& api, uintptr_t code_address);
  // Whether its last word, at least `quiet_ns` ago, was to switch kernel records off.
  bool DoneFor(uint64_t now_monotonic_ns, uint64_t quiet_ns) const;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_OTHER_CLIENT_H_
