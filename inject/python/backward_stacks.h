// Stacks of launches that autograd makes: each belongs to the forward launches of the node that is
// being evaluated (docs/decisions/0050-backward-launches-by-sequence-numbers.md).
//
// OnLaunch: any thread, without a lock. Find: the agent's thread, without the recorder's lock,
// since it takes the dynamic loader's. All others: under the recorder's lock.
#ifndef UTLZ_INJECT_PYTHON_BACKWARD_STACKS_H_
#define UTLZ_INJECT_PYTHON_BACKWARD_STACKS_H_

#include <atomic>
#include <cstdint>

#include "inject/python/autograd.h"
#include "inject/python/derived_stacks.h"
#include "inject/python/forward_stacks.h"
#include "inject/python/node_period.h"

namespace utlz::agent {

class BackwardStacks {
 public:
  struct Counts {
    uint64_t calls = 0;    // launching calls inside nodes
    uint64_t without = 0;  // of them, without a forward launch that is known
  };

  // Before all others. False where there is no memory.
  bool Create();
  // Looks for PyTorch, off the launch path, without a lock of the agent's: it takes the loader's.
  NoBackward Find() { return autograd_.Find(); }
  // A window begins.
  void BeginWindow();
  // For another reader.
  void Restart();

  // A launch on the calling thread, whose own frames have the hash `own`, or 0. Returns the hash of
  // its stack: `own`, or that of a derived one, or 0.
  uint64_t OnLaunch(uint64_t own) { return OnLaunch(own, autograd_.Read(own != 0)); }
  uint64_t OnLaunch(uint64_t own, const AutogradPlace& place);

  bool Get(uint64_t hash, DerivedStack* stack) const { return derived_.Get(hash, stack); }
  Counts counts() const;

 private:
  static constexpr uint32_t kThreads = 256;
  // So far away the launches around a node that launched nothing are looked for.
  static constexpr uint64_t kMostDistance = 8;
  // So far back FindInEarlierSteps looks, which is some windows; for launches around the node it
  // looks less far.
  static constexpr uint64_t kMostSteps = 64;
  static constexpr uint64_t kMostStepsAround = 16;

  // What the thread was in at its last launch inside a node with a number. Threads with the same
  // place overwrite each other.
  struct Last {
    std::atomic<uint64_t> hash;
    std::atomic<uint64_t> check;
  };
  Last& LastOfThread() const;
  DerivedStack StackOfNode(uint64_t own, const AutogradNode& node) const;
  bool FindExactly(const AutogradNode& node, DerivedStack* stack) const;
  // Finds what launched in the node's forward, or around it; false where no window saw that.
  bool FindForward(const AutogradNode& node, DerivedStack* stack) const;
  // Finds that of the node which stood in the same place of an earlier step.
  bool FindInEarlierSteps(const AutogradNode& node, DerivedStack* stack) const;

  Autograd autograd_;
  ForwardStacks forward_;
  NodePeriod period_;
  DerivedStacks derived_;
  Last* last_ = nullptr;
  std::atomic<uint64_t> calls_{0}, without_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_BACKWARD_STACKS_H_
