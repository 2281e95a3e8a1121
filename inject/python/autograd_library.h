// PyTorch's autograd in this process: which release it is, and what a launch reads of it
// (docs/decisions/0050-backward-launches-by-sequence-numbers.md). Other releases and layouts are
// refused, each with its reason, and never guessed at.
#ifndef UTLZ_INJECT_PYTHON_AUTOGRAD_LIBRARY_H_
#define UTLZ_INJECT_PYTHON_AUTOGRAD_LIBRARY_H_

#include <cstdint>

namespace utlz::agent {

// Why launches of a backward pass have no owner. The wire's NoBackwardReason.
enum class NoBackward : uint8_t {
  kNone,  // nothing is in the way
  kNoTorch,
  kOtherRelease,  // than 2.0 to 2.11
  kOtherLayout,   // of what it exports, or of the C library's thread-local memory
};

// A std::shared_ptr as a function returns it. What is in it is given back by hand.
struct SharedNode {
  uint64_t node = 0;
  uint64_t control = 0;

  SharedNode() = default;
  SharedNode(const SharedNode&) = delete;
  SharedNode& operator=(const SharedNode&) = delete;
  ~SharedNode() { node = control = 0; }  // not trivial: so it is returned in memory, as that one is
};

struct AutogradLibrary {
  uint64_t (*next_number)() = nullptr;     // at::sequence_number::peek
  uint64_t (*thread_number)() = nullptr;   // at::RecordFunction::currentThreadId
  SharedNode (*current_node)() = nullptr;  // torch::autograd::get_current_node
  // Its thread-local memory: a block of each thread that has used it.
  uint64_t tls_module = 0;
  uint64_t tls_bytes = 0;
};

// Where a node has what a launch reads, in all known releases: after its table of functions and the
// weak pointer of enable_shared_from_this comes the number, then topological_nr_ and has_parent_.
inline constexpr uint64_t kNodeNumber = 24;
inline constexpr uint64_t kNodeThread = 48;
// Of a node that accumulates a gradient, which no forward launch made.
inline constexpr uint64_t kAccumulateNumber = UINT64_MAX;

// Takes the dynamic loader's lock and reads a file: never at a launch. kNone where `library` was
// filled in; it is never unloaded from then on.
NoBackward FindAutograd(AutogradLibrary* library);

// The calling thread's block of a library's thread-local memory, or null where it has none yet.
// Only reads the C library's list of the thread's blocks.
const char* ThreadLocalBlock(const AutogradLibrary& library);

// "2.11.0+cu130" in PyTorch's version.py is 2 and 11. False where no version is in the text.
bool ReadTorchVersion(const char* text, uint32_t* major, uint32_t* minor);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_AUTOGRAD_LIBRARY_H_
