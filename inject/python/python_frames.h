// The Python frames of a thread that launches, read in its own launch without Python's lock.
//
// Only the thread itself changes its chain of frames, and a frame owns its code object and locals:
// while the thread is in a launch they stand still, whoever has the lock. A walk calls
// PyGILState_GetThisThreadState and reads memory; it allocates nothing, takes no lock, makes no
// system call, changes nothing of Python's and never waits. It reads thread state, frames, and the
// module of a call; never a code object. Those are read later by another thread, from the record of
// a new stack (python_code.h).
//
// What a launching thread is in while it launches nothing, another thread samples: it has the
// kernel copy the frames, twice, and takes what is the same both times.
//
// Python frees the states of threads that still run when it ends. A walk sees that it has begun to
// and reads no frame then; a thread that stops between this look and its last read, for as long as
// Python takes to free its state, reads what is no longer there. A code object that was freed
// while its place was taken by another one with the same instructions' addresses is not told apart.
#ifndef UTLZ_INJECT_PYTHON_PYTHON_FRAMES_H_
#define UTLZ_INJECT_PYTHON_PYTHON_FRAMES_H_

#include <atomic>
#include <cstdint>

#include "inject/python/python_layout.h"

namespace utlz::agent {

struct PythonFrame {
  uint64_t code = 0;         // address of the code object
  uint64_t instruction = 0;  // address of the instruction that it is in
  uint64_t module = 0;       // of a call of torch.nn.Module's: the module; else 0
};

constexpr uint32_t kMostPythonFrames = 64;

// A stack that was not known before, innermost frame first.
struct PythonStack {
  uint64_t hash = 0;
  uint32_t frame_count = 0;
  bool is_cut = false;  // further frames were left out
  PythonFrame frames[kMostPythonFrames];
};

struct PythonWalk {
  uint64_t hash = 0;  // never 0 where there is a stack
  NoStack why = NoStack::kNone;
};

class PythonFrames {
 public:
  static constexpr uint32_t kCaches = 64;
  static constexpr uint32_t kCacheEntries = 4096;
  static constexpr uint32_t kLaunchers = kCaches;  // of threads that share one, the last
  static constexpr uint32_t kMostModuleCodes = 4;
  static constexpr uint64_t kNewStacks = 1024;

  // Once, before the first walk. False where there is no memory.
  bool Create(const PythonLayout& layout);

  // Any thread, of its own frames. A stack that is not known is put among the new ones; where they
  // have no room it is counted as lost, and is new again the next time.
  PythonWalk Walk();

  // Samples what a launching thread is in now: `launcher` counts from 0 to kLaunchers. Any other
  // thread; system calls. False where there is no such thread, where it runs no Python, or where it
  // went on while it was read.
  bool Sample(uint32_t launcher, PythonStack* stack) const;

  // Frames of this code have a module as their first local, or a cell that holds it. Any thread.
  // False where kMostModuleCodes are known.
  bool AddModuleCode(uint64_t code);

  // One thread at a time. Two threads that meet a stack at the same time both report it.
  bool TakeNewStack(PythonStack* stack);
  // Since this was last asked.
  uint64_t TakeLost() { return lost_.exchange(0, std::memory_order_relaxed); }
  // Has every stack be new again.
  void ForgetStacks();
  // Whether a sampled stack was known already, by a walk or a sample since ForgetStacks; from now on
  // it is.
  bool KnewSampled(uint32_t launcher, uint64_t hash);

 private:
  using CacheEntry = std::atomic<uint64_t>;  // a stack's hash, 0: free
  struct NewStack {
    std::atomic<uint64_t> turn;  // twice the laps done, one more while it is filled
    PythonStack stack;
  };

  // These read with a class of frame_memory.h.
  // Calls take(address, frame) for each frame of Python code from `frame` outwards. Whether all of
  // them could be CPython's, and could be read.
  template <typename Memory, typename Take>
  bool VisitFrames(uint64_t frame, Take take) const;
  template <typename Memory>
  NoStack FindInnermost(uint64_t thread, uint64_t* frame) const;
  template <typename Memory>
  uint64_t ModuleOf(const Memory& memory) const;

  bool IsModuleCode(uint64_t code) const;
  bool CopyStack(uint64_t thread, PythonStack* stack, uint64_t* chain) const;
  bool HashFrames(uint64_t frame, uint64_t* hash) const;
  bool Knows(CacheEntry* cache, uint64_t hash) const;
  void Remember(CacheEntry* cache, uint64_t hash);
  bool Report(uint64_t frame, uint64_t hash);
  NewStack* ClaimSlot(uint64_t* filled);

  PythonLayout layout_;
  // A thread has the cache that its state's address picks. Two threads may have the same one: its
  // entries are atomic, and a stack that one of them reported is known for both.
  CacheEntry* caches_ = nullptr;
  std::atomic<uint64_t> launchers_[kLaunchers] = {};  // states of threads, 0: none
  NewStack* new_stacks_ = nullptr;
  std::atomic<uint64_t> module_codes_[kMostModuleCodes] = {};
  std::atomic<uint64_t> tail_{0};
  std::atomic<uint64_t> lost_{0};
  uint64_t head_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_PYTHON_FRAMES_H_
