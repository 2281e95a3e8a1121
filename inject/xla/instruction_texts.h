// What XLA registers with NVTX while it compiles a program: for each instruction a title
// ("Thunk:#name=jit(step)/mlp/dot_general,hlo_op=gemm_fusion_dot.4,…#"), the instruction itself as
// text, and the lines of Python that it comes from; for the program "XlaModule:#…#".
//
// Bounded: what has no room is not known. Register: any threads, under a lock. All others: any
// threads, without one.
#ifndef UTLZ_INJECT_XLA_INSTRUCTION_TEXTS_H_
#define UTLZ_INJECT_XLA_INSTRUCTION_TEXTS_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace utlz::agent {

class InstructionTexts {
 public:
  static constexpr uint32_t kMostTitles = 1u << 18;
  static constexpr uint32_t kArenaBytes = 64u << 20;  // address space; pages come as they are used
  static constexpr size_t kMostTextBytes = 8 << 10;   // the rest is cut off

  enum class Kind : uint8_t {
    kInstruction,
    kProgram,
    kTrial,  // a program that XLA tries while it compiles another one
  };
  // Texts stay where they are, end in a zero byte and are never null.
  struct Texts {
    const char* title;
    const char* operation;  // "jit(step)/mlp/dot_general"; empty where XLA has none
    const char* lines;      // "\n- FILE:LINE:COLUMN[FUNCTION]\n-- …"; the same
  };

  // Once, before all others. False where there is no memory.
  bool Create();
  // Takes a text that a thread registers. `title` is the number of the last title that this thread
  // registered, 0 = none: XLA registers an instruction's other texts right after its title. Returns
  // the number of the new title if the text is one, and else `title`.
  uint32_t Register(const char* text, uint32_t title);
  // From now on Find knows the title by this handle.
  void AddHandle(const void* handle, uint32_t title);
  // 0 where the handle is of no title.
  uint32_t Find(const void* handle) const;

  // `title` is a number that Register gave.
  Kind KindOf(uint32_t title) const { return entries_[title].kind; }
  Texts TextsOf(uint32_t title) const;
  // Counts one more run of a program, and returns how many there were before.
  uint32_t CountRun(uint32_t title) const {
    return entries_[title].runs.fetch_add(1, std::memory_order_relaxed);
  }
  uint32_t size() const { return count_.load(std::memory_order_acquire); }

 private:
  static constexpr uint32_t kSlots = 2 * kMostTitles;
  static constexpr uint32_t kProbes = 128;

  struct Entry {
    uint32_t title;  // places of texts, 0 = empty
    std::atomic<uint32_t> operation;
    std::atomic<uint32_t> lines;
    std::atomic<uint32_t> runs;
    Kind kind;
  };
  struct Handle {
    std::atomic<const void*> handle;
    std::atomic<uint32_t> title;
  };

  static uint32_t SlotOf(const void* handle) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle) * 0x9E3779B97F4A7C15u >> 40);
  }
  uint32_t AddTitle(const char* text, size_t length);
  // The place of an equal text, which is added where there is none; 0 where there is no room.
  uint32_t Intern(const char* text, size_t length);

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  Entry* entries_ = nullptr;  // index = number; the first one is none
  std::atomic<uint32_t> count_{1};
  char* arena_ = nullptr;
  uint32_t used_bytes_ = 1;         // place 0 is the empty text
  uint32_t* text_slots_ = nullptr;  // open addressing; a place, 0 = free
  Handle* handles_ = nullptr;       // open addressing
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_XLA_INSTRUCTION_TEXTS_H_
