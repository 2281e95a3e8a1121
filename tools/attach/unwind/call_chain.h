// The functions that a stopped thread is in, found exactly: by the compilers' own descriptions.
#ifndef UTLZ_TOOLS_ATTACH_UNWIND_CALL_CHAIN_H_
#define UTLZ_TOOLS_ATTACH_UNWIND_CALL_CHAIN_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {

struct CallChain {
  // Addresses of code, innermost first: where the thread is, then where each call returns to.
  std::vector<uint64_t> addresses;
  bool has_signal_frame = false;
  // Whether the chain ends with a thread's or program's first function. Otherwise something on the
  // way has no description, and what lies beyond is unknown.
  bool is_complete = false;
};

// Follows at most 1,000 calls, and none after `give_up`: the thread stands still meanwhile.
CallChain FollowCallChain(const MemoryReader& memory, const MemoryMap& map,
                          const Registers& registers,
                          std::chrono::steady_clock::time_point give_up);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNWIND_CALL_CHAIN_H_
