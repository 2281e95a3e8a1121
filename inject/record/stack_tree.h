// Stacks as they go on the wire (Stacks of proto/profile.proto): each is another one with one more
// frame inside. Equal ones have one number. Guarded by the recorder's lock.
#ifndef UTLZ_INJECT_RECORD_STACK_TREE_H_
#define UTLZ_INJECT_RECORD_STACK_TREE_H_

#include <cstdint>

#include "inject/base/pb_writer.h"

namespace utlz::agent {

struct TreeFrame {
  uint32_t parent = 0;  // the stack without this frame; 0: none
  // Identifiers of strings.
  uint32_t name = 0;
  uint32_t file = 0;
  uint32_t module_class = 0;
  uint32_t line = 0;
  uint32_t kind = 0;
  uint32_t flags = 0;

  bool operator==(const TreeFrame&) const = default;
};

class StackTree {
 public:
  static constexpr uint32_t kFirst = 1;
  static constexpr uint32_t kMostStacks = 1u << 17;

  // Once, before all others. False where there is no memory.
  bool Create();
  // Empty again, its memory given back: for another reader.
  void Clear();
  // The number of the stack that has this frame inside `frame.parent`; 0 where there is no room.
  uint32_t Find(const TreeFrame& frame);
  uint32_t size() const { return count_; }
  // `stack` is a number that Find gave.
  const TreeFrame& At(uint32_t stack) const { return frames_[stack]; }
  // The frames outside in which both stacks agree; 0: none.
  uint32_t CommonOf(uint32_t a, uint32_t b) const;
  // Writes a message with the stacks from `first` on, and returns the first that is not in it.
  uint32_t Write(uint32_t first, ByteBuffer* message) const;

 private:
  static constexpr uint32_t kSlots = 2 * kMostStacks;

  TreeFrame* frames_ = nullptr;  // index = number
  uint32_t* slots_ = nullptr;    // open addressing; a number, 0 = free
  uint32_t count_ = kFirst;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_STACK_TREE_H_
