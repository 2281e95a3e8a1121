// What autograd does on a thread that launches, read in its own launch.
//
// A node has the number of its maker's thread and its own number in that thread; a thread that is
// making nodes has the number of the next one. Nothing is allocated, locked or waited for, and no
// system call is made, with one exception: which thread-local variable holds the node that a
// thread evaluates, nothing exported says. So at first PyTorch is asked for the node
// (get_current_node), and the variable is what holds the same two words in the thread's block of
// PyTorch's thread-local memory. It is asked only until several nodes were found in one place, and
// only on threads that have used PyTorch and run no Python function, which are autograd's. One that
// is not registers the variable's destructor then, once. And where a library was loaded since,
// PyTorch's functions may have the C library enlarge the thread's list of blocks, which allocates.
#ifndef UTLZ_INJECT_PYTHON_AUTOGRAD_H_
#define UTLZ_INJECT_PYTHON_AUTOGRAD_H_

#include <atomic>
#include <cstdint>

#include "inject/python/autograd_library.h"

namespace utlz::agent {

// A node, by its maker's thread and its number in it.
struct AutogradNode {
  uint64_t thread = 0;  // PyTorch's own number of the thread, from 1; 0: there is no node
  uint64_t number = 0;

  bool operator==(const AutogradNode&) const = default;
};

struct AutogradPlace {
  bool is_in_node = false;
  AutogradNode evaluated;  // that the thread is in
  // The newest that the thread itself has made; not looked for inside nodes without Python frames.
  AutogradNode made;
};

class Autograd {
 public:
  // Off the launch path, one thread at a time; again as long as it is not found: a program may load
  // PyTorch at any time.
  NoBackward Find();

  // Any thread, in a launch. `runs_python`: whether the thread has Python frames.
  AutogradPlace Read(bool runs_python);

 private:
  static constexpr uint64_t kUnknown = UINT64_MAX;
  static constexpr uint32_t kConfirmations = 8;

  AutogradNode NewestMade() const;
  uint64_t NodeOf(const char* block, bool runs_python);
  uint64_t AskForNode(const char* block);
  void Learn(const char* block, const SharedNode& node);

  AutogradLibrary library_;
  NoBackward why_ = NoBackward::kNoTorch;
  std::atomic<bool> is_found_{false};
  std::atomic<bool> is_refused_{false};     // nodes were not where others had been
  std::atomic<uint64_t> offset_{kUnknown};  // of the variable in a block
  std::atomic<uint64_t> last_node_{0};
  std::atomic<uint32_t> confirmations_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_AUTOGRAD_H_
