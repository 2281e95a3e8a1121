// Whether a waiting thread may be lent: its stack must show no trace of the allocator, of the
// dynamic loader or of a signal handler, since dlopen needs the locks that those may hold.
#ifndef UTLZ_TOOLS_ATTACH_STACK_SCAN_H_
#define UTLZ_TOOLS_ATTACH_STACK_SCAN_H_

#include <chrono>
#include <cstdint>

#include "tools/attach/c_library.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {

enum class StackVerdict {
  kClear,
  kAllocator,      // a return address into malloc, free and their like
  kLoader,         // a return address into ld.so
  kSignalHandler,  // a signal frame: what it interrupted is unknown
  kUnreadable,
};

// Looks at every word from `stack_pointer` to the end of its mapping, at most 1 MiB. A word counts
// as a return address if the instruction before it is a call. Words left over from earlier calls
// count as well: the answer may be too cautious, never too bold.
StackVerdict ScanStack(const MemoryReader& memory, const MemoryMap& map, const CLibrary& library,
                       uint64_t stack_pointer);

// The exact answer for a stopped thread, by its chain of calls. Where that cannot be followed to
// its end (code without a description, or `give_up` has come), what ScanStack() says.
StackVerdict JudgeStack(const MemoryReader& memory, const MemoryMap& map, const CLibrary& library,
                        const Registers& registers,
                        std::chrono::steady_clock::time_point give_up);

// "in the memory allocator" and so on; what a refusal says.
const char* Describe(StackVerdict verdict);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_STACK_SCAN_H_
