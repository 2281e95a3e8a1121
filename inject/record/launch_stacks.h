// The stacks of launches: taken in callbacks on launching threads, named and numbered for the
// records that come later (docs/decisions/0022-stacks-are-read-in-callbacks-of-windows.md).
//
// OnLaunch, OnCapturedNode and OnClonedNode: any thread, lock-free. All others but FindAutograd:
// under the recorder's lock.
#ifndef UTLZ_INJECT_RECORD_LAUNCH_STACKS_H_
#define UTLZ_INJECT_RECORD_LAUNCH_STACKS_H_

#include <atomic>
#include <cstdint>

#include "inject/python/backward_stacks.h"
#include "inject/python/call_stacks.h"
#include "inject/python/captured_nodes.h"
#include "inject/python/python_frames.h"
#include "inject/record/compiled_files.h"
#include "inject/record/stack_encoder.h"
#include "inject/record/stack_resolver.h"
#include "inject/record/stack_tree.h"
#include "inject/record/string_table.h"
#include "inject/record/thread_stack_encoder.h"
#include "inject/xla/instruction_stacks.h"

namespace utlz::agent {

class LaunchStacks {
 public:
  struct Counts {
    uint64_t calls = 0;           // launching calls that were seen
    uint64_t without_stack = 0;   // of them, on threads that ran no Python that could be read
    uint64_t lost = 0;            // stacks that there was no room for
    uint64_t captured = 0;        // kernels of CUDA graphs that have the stack of their capture
    bool nodes_are_full = false;  // there was no room for more of them
    BackwardStacks::Counts backward;
  };

  // Before all others, once an interpreter is there. False where there was no memory, now or when
  // it was first called: what was taken by then is not taken again.
  bool Create(const PythonLayout& layout, StringTable* strings);
  bool ready() const { return is_ready_; }

  // Looks for PyTorch, without the recorder's lock: it takes the dynamic loader's. Once Create has
  // returned true; why backward launches have no owner.
  NoBackward FindAutograd() { return backward_.Find(); }
  // A window begins, in which code objects may lie where others lay in the last one.
  void BeginWindow();
  void OnLaunch(uint32_t call);
  // A kernel was captured into a graph, on the thread that would have launched it.
  void OnCapturedNode(uint64_t node);
  // A node was cloned from another one: what runs is a clone.
  void OnClonedNode(uint64_t node, uint64_t original) { nodes_.PutCloned(node, original); }
  bool has_captured_nodes() const { return !nodes_.empty(); }

  // Numbers new stacks. Call it before reading a buffer's records: their launches were put here
  // earlier.
  void TakeNewStacks();
  // Samples what launching threads are in at this time, after TakeNewStacks, and adds it to
  // thread_stacks().
  void SampleThreads(uint64_t time_ns);
  ThreadStackEncoder& thread_stacks() { return thread_stacks_; }
  // The stack of the call that launched a graph; 0: none. All kernels of one launch have the call's
  // number, so they all ask for it.
  uint32_t NumberOfGraphLaunch(uint32_t call) { return NumberOfLaunch(calls_.Get(call)); }
  // The stack of the call that launched a single kernel; 0: none. The first kernel that asks gets
  // it, later ones get none: CUPTI may give all calls of a thread one number (last_exit.h).
  uint32_t TakeNumberOf(uint32_t call) { return NumberOfLaunch(calls_.Take(call)); }
  // The stack that a node of a graph was captured from; 0: that was not seen.
  uint32_t NumberOfNode(uint64_t node);
  StackTree& tree() { return tree_; }
  StackEncoder& encoder() { return encoder_; }
  // Those of the stacks' frames.
  CompiledFiles& compiled_files() { return compiled_files_; }
  // For another reader, which knows nothing yet.
  void Restart();
  Counts counts() const;

 private:
  static constexpr uint32_t kNumbers = 1u << 16;
  static constexpr uint32_t kMostNumbers = kNumbers / 4 * 3;

  struct Number {
    uint64_t hash;  // 0: free
    uint32_t stack;
    uint32_t generation;  // of the resolver's paths
  };
  // The hash of the calling thread's stack; 0: it has none.
  uint64_t ReadStack();
  Number* SlotOf(uint64_t hash) const;
  void SetNumber(uint64_t hash, uint32_t stack);
  // Whether the stack has a number, of paths as they are known now. True of 0, no stack.
  bool IsCurrent(uint64_t hash) const;
  uint32_t NumberOfHash(uint64_t hash) const { return hash == 0 ? 0 : SlotOf(hash)->stack; }
  // Of a launch, by the hash that ReadStack made of it.
  uint32_t NumberOfLaunch(uint64_t hash);
  uint32_t NumberOfInstruction(const InstructionStack& stack);
  uint32_t NumberOfDerived(const DerivedStack& stack);
  uint32_t NumberOfForward(const DerivedStack& stack);
  uint32_t AddPass(uint32_t parent, uint32_t kind, bool inferred);
  // `stack` with the frame of `own` inside that is in a file of Inductor's.
  uint32_t AddCompiledFrame(uint32_t stack, uint32_t own);

  bool is_ready_ = false;
  bool is_without_memory_ = false;
  PythonFrames frames_;
  BackwardStacks backward_;
  InstructionStacks instructions_;
  CallStacks calls_;
  CapturedNodes nodes_;
  CompiledFiles compiled_files_;
  StackResolver resolver_;
  StringTable* strings_ = nullptr;
  StackTree tree_;
  StackEncoder encoder_;
  ThreadStackEncoder thread_stacks_;
  Number* numbers_ = nullptr;
  uint32_t number_count_ = 0;
  PythonStack* new_stack_ = nullptr;
  std::atomic<uint64_t> calls_seen_{0}, without_stack_{0}, captured_{0};
  uint64_t lost_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_LAUNCH_STACKS_H_
