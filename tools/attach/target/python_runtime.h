// Where a running CPython 3.14 takes the request to run a script (PEP 768): found in its memory,
// which is hostile until checked.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_PYTHON_RUNTIME_H_
#define UTLZ_TOOLS_ATTACH_TARGET_PYTHON_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {

// Bytes that the interpreter has for a script's path, its NUL included.
inline constexpr size_t kPythonScriptPathBytes = 512;

// Addresses in the state of the interpreter's main thread. Each lies in ordinary memory of the
// process: private and writable.
struct PythonRequestPlace {
  // The lowest byte of the word that the thread looks at between bytecodes.
  uint64_t eval_breaker = 0;
  // An int32_t: 1 asks for the script.
  uint64_t pending_call = 0;
  // kPythonScriptPathBytes bytes.
  uint64_t script_path = 0;
};

// In the lowest byte of the eval breaker: has the thread look for what is asked of it.
inline constexpr uint8_t kPythonPleaseStop = 1 << 5;

// NotFound: there is no CPython 3.14 in the process, or none that has a main thread.
// FailedPrecondition: there is one that takes no requests, and the message says so in a sentence
// whose subject it is.
absl::StatusOr<PythonRequestPlace> FindPythonRequestPlace(const MemoryReader& memory,
                                                          const MemoryMap& map);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_PYTHON_RUNTIME_H_
