// What the probe library says over its socket once it runs.
#ifndef UTLZ_TESTS_ATTACH_PROBE_PROTOCOL_H_
#define UTLZ_TESTS_ATTACH_PROBE_PROTOCOL_H_

#include <cstdint>

namespace utlz::attach {

struct ProbeHello {
  uint32_t process_id;  // as the target counts
  uint32_t thread_id;
  uint32_t socket_is_named;  // by its device and inode, as an agent wants it
  uint64_t blocked_signals;
  char parameters[64];
};

}  // namespace utlz::attach

#endif  // UTLZ_TESTS_ATTACH_PROBE_PROTOCOL_H_
