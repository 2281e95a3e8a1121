// Where CPython keeps what a walk over a thread's Python frames reads: 3.11 and 3.12 by a table for
// each, 3.13 and 3.14 by the offsets that the interpreter itself publishes (_Py_DebugOffsets).
// Other versions and builds are refused, each with its reason, and never guessed at.
#ifndef UTLZ_INJECT_PYTHON_PYTHON_LAYOUT_H_
#define UTLZ_INJECT_PYTHON_PYTHON_LAYOUT_H_

#include <cstdint>

namespace utlz::agent {

// Why a launch has no Python stack.
enum class NoStack : uint8_t {
  kNone,  // it has one
  // Nowhere in this process:
  kNoPython,
  kOtherVersion,  // not a final release of CPython 3.11 to 3.14
  kFreeThreaded,
  kDebugBuild,
  kJitBuild,
  kOtherLayout,  // offsets that cannot be CPython's
  // Not of this thread, or not now:
  kNoThreadState,   // Python does not know the thread
  kSubInterpreter,  // the thread runs one, or one exists
  kEnding,          // the interpreter is being taken down
  kNoFrames,        // Python knows the thread, which runs no Python function
  kOddFrames,       // a frame that cannot be CPython's
  // Of the agent:
  kNoMemory,
  kNotSubscribed,  // CUPTI refused its one subscription, which another client has or has had
};

// Offsets in bytes. Pointers and instructions are 64-bit words.
struct PythonLayout {
  void* (*this_thread)() = nullptr;  // PyGILState_GetThisThreadState
  uint64_t runtime = 0;              // _PyRuntime
  uint64_t cell_type = 0;            // PyCell_Type
  uint64_t code_type = 0;            // PyCode_Type

  uint32_t runtime_ending = 0;
  uint32_t runtime_interpreters = 0;  // the newest interpreter, and after it the first one
  uint32_t thread_interpreter = 0;
  uint32_t thread_frame = 0;  // the innermost frame, or with `has_cframe` what points at it
  uint32_t cframe_frame = 0;
  uint32_t frame_code = 0;
  uint32_t frame_instruction = 0;
  uint32_t frame_previous = 0;
  uint32_t frame_owner = 0;
  uint32_t frame_locals = 0;
  uint32_t code_file = 0;
  uint32_t code_name = 0;  // the qualified one
  uint32_t code_first_line = 0;
  uint32_t code_line_table = 0;
  uint32_t code_instructions = 0;
  uint32_t text_ascii = 0;  // where the characters of a text begin
  uint32_t text_compact = 0;
  uint32_t dict_values = 0;  // the first value of a table of values alone
  bool has_cframe = false;
  bool has_tags = false;  // code and locals are words whose lowest two bits are no address
};

// Finds a symbol of the process, or null.
using SymbolLookup = void* (*)(const char* name);

// The interpreter of this process. Takes the dynamic loader's lock: never at a launch. kNone where
// `layout` was filled in.
NoStack FindPython(PythonLayout* layout);
NoStack FindPython(SymbolLookup lookup, PythonLayout* layout);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_PYTHON_LAYOUT_H_
