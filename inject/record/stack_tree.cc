#include "inject/record/stack_tree.h"

#include <initializer_list>

#include "inject/base/memory.h"
#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

uint64_t HashOf(const TreeFrame& frame) {
  uint64_t hash = 0;
  for (const uint32_t value : {frame.parent, frame.name, frame.file, frame.module_class, frame.line,
                               frame.kind, frame.flags}) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

bool StackTree::Create() {
  frames_ = MapArray<TreeFrame>(kMostStacks);
  slots_ = MapArray<uint32_t>(kSlots);
  return frames_ != nullptr && slots_ != nullptr;
}

void StackTree::Clear() {
  ClearArray(frames_, kMostStacks);
  ClearArray(slots_, kSlots);
  count_ = kFirst;
}

uint32_t StackTree::Find(const TreeFrame& frame) {
  uint32_t slot = static_cast<uint32_t>(HashOf(frame) >> 32) % kSlots;
  for (; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
    if (frames_[slots_[slot]] == frame) return slots_[slot];
  }
  if (count_ == kMostStacks) return 0;
  frames_[count_] = frame;
  slots_[slot] = count_;
  return count_++;
}

uint32_t StackTree::CommonOf(uint32_t a, uint32_t b) const {
  // What is outside of a stack has a lower number.
  while (a != b) {
    uint32_t& inner = a > b ? a : b;
    inner = frames_[inner].parent;
  }
  return a;
}

uint32_t StackTree::Write(uint32_t first, ByteBuffer* message) const {
  namespace field = wire::Stacks;
  constexpr uint32_t kMostInMessage = 4096;
  const uint32_t end = first + kMostInMessage < count_ ? first + kMostInMessage : count_;
  PbWriter out(message);
  out.Uint(field::kFirst, first);
  static uint8_t bytes[kMostInMessage * 10];  // too large for a thread's stack
  ByteBuffer column(bytes, sizeof bytes);
  const auto put = [&](uint32_t number, auto value_of) {
    column.Clear();
    for (uint32_t id = first; id < end; ++id) column.Varint(value_of(frames_[id]));
    out.Buffer(number, column);
  };
  put(field::kParent, [](const TreeFrame& frame) { return frame.parent; });
  put(field::kName, [](const TreeFrame& frame) { return frame.name; });
  put(field::kFile, [](const TreeFrame& frame) { return frame.file; });
  put(field::kModuleClass, [](const TreeFrame& frame) { return frame.module_class; });
  put(field::kLine, [](const TreeFrame& frame) { return frame.line; });
  put(field::kKind, [](const TreeFrame& frame) { return frame.kind; });
  put(field::kFlags, [](const TreeFrame& frame) { return frame.flags; });
  return end;
}

}  // namespace utlz::agent
