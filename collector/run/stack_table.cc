#include "collector/run/stack_table.h"

#include <algorithm>

#include "collector/decode/columns.h"
#include "collector/xla/instruction_frames.h"

namespace utlz {
namespace {

// Of an entry of a tree, beside what it holds.
constexpr size_t kNodeBytes = 64;

bool IsSound(const Stacks& message) {
  const int count = message.parent_size();
  if (!FitsOrAbsent(message.name(), count) || !FitsOrAbsent(message.file(), count) ||
      !FitsOrAbsent(message.module_class(), count) || !FitsOrAbsent(message.line(), count) ||
      !FitsOrAbsent(message.kind(), count) || !FitsOrAbsent(message.flags(), count)) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (message.parent(i) >= uint64_t{message.first()} + static_cast<uint64_t>(i)) return false;
  }
  return message.first() > 0 && count <= StackTable::kMaxStacksPerMessage;
}

std::string_view TextOf(const ProcessState& process, uint32_t id) {
  return id < process.strings.size() ? std::string_view(process.strings[id]) : std::string_view();
}

// Bytes that continue a character of UTF-8 are not where a text is cut.
bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::string BeginOf(std::string_view text) {
  size_t length = std::min(text.size(), StackTable::kMaxTextBytes);
  while (length > 0 && length < text.size() && Continues(text[length])) --length;
  return std::string(text.substr(0, length));
}

// Of a path the end says more.
std::string EndOf(std::string_view text) {
  size_t first = text.size() - std::min(text.size(), StackTable::kMaxTextBytes);
  while (first > 0 && first < text.size() && Continues(text[first])) ++first;
  return std::string(text.substr(first));
}

// A kind of a later release is a function with a name.
StackFrameKind KindAt(const Stacks& message, int i) {
  const auto kind = static_cast<int>(ValueAt(message.kind(), i));
  return StackFrameKind_IsValid(kind) ? static_cast<StackFrameKind>(kind) : STACK_FRAME_FUNCTION;
}

StackFrame FrameAt(const ProcessState& process, const Stacks& message, int i) {
  StackFrame frame;
  frame.kind = KindAt(message, i);
  frame.inferred = (ValueAt(message.flags(), i) & STACK_FRAME_INFERRED) != 0;
  frame.name = BeginOf(TextOf(process, ValueAt(message.name(), i)));
  frame.file = EndOf(TextOf(process, ValueAt(message.file(), i)));
  frame.module_class = BeginOf(TextOf(process, ValueAt(message.module_class(), i)));
  frame.line = ValueAt(message.line(), i);
  return frame;
}

// Texts are cut only after they were read.
void CutTexts(StackFrame* frame) {
  frame->name = BeginOf(frame->name);
  frame->file = EndOf(frame->file);
  frame->module_class = BeginOf(frame->module_class);
}

}  // namespace

uint32_t StackTable::AddOfMessage(uint32_t parent, const ProcessState& process,
                                  const Stacks& message, int i, uint64_t* bytes_left) {
  const uint32_t room = kMaxDepth - stacks_[parent].depth;
  if (KindAt(message, i) != STACK_FRAME_XLA_INSTRUCTION || room == 0) {
    return AddOne(parent, FrameAt(process, message, i));
  }
  const XlaInstruction instruction = {TextOf(process, ValueAt(message.name(), i)),
                                      TextOf(process, ValueAt(message.file(), i)),
                                      TextOf(process, ValueAt(message.module_class(), i))};
  const uint64_t bytes =
      instruction.title.size() + instruction.locations.size() + instruction.op_name.size();
  if (bytes > *bytes_left) return kNoStack;
  *bytes_left -= bytes;
  uint32_t stack = parent;
  for (StackFrame& frame : FramesOfInstruction(instruction, room)) {
    CutTexts(&frame);
    stack = AddOne(stack, std::move(frame));
    if (stack == kNoStack) break;
  }
  return stack;
}

uint32_t StackTable::AddOne(uint32_t parent, StackFrame frame) {
  const uint32_t depth = stacks_[parent].depth + 1;
  if (depth > kMaxDepth) return kNoStack;
  FrameKey key(frame.kind, frame.inferred, frame.of_xla, frame.name, frame.file, frame.module_class,
               frame.line);
  const auto known_frame = frame_ids_.find(key);
  const bool is_new = known_frame == frame_ids_.end();
  const auto frame_id = is_new ? static_cast<uint32_t>(frames_.size()) : known_frame->second;
  if (const auto known = stack_ids_.find({parent, frame_id}); known != stack_ids_.end()) {
    return known->second;
  }
  const size_t texts = frame.name.size() + frame.file.size() + frame.module_class.size();
  const size_t frame_bytes = is_new ? 2 * (sizeof(StackFrame) + texts) + kNodeBytes : 0;
  if (stacks_.size() >= kMaxStacks || (is_new && frames_.size() >= kMaxFrames) ||
      !memory_->Take(frame_bytes + 2 * sizeof(Stack) + kNodeBytes)) {
    return kNoStack;
  }
  if (is_new) {
    frame_ids_.emplace(std::move(key), frame_id);
    frames_.push_back(std::move(frame));
  }
  const auto stack = static_cast<uint32_t>(stacks_.size());
  stack_ids_.emplace(std::pair(parent, frame_id), stack);
  stacks_.push_back({parent, frame_id, depth});
  return stack;
}

uint32_t StackTable::Copy(const StackTable& other, uint32_t stack) {
  std::vector<uint32_t> frames;  // innermost first
  for (; stack != kNoStack; stack = other.ParentOf(stack)) frames.push_back(stack);
  uint32_t own = kNoStack;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    own = AddOne(own, other.FrameOf(*frame));
    if (own == kNoStack) return kNoStack;
  }
  return own;
}

bool StackTable::Add(ProcessState* process, const Stacks& message) {
  const uint64_t end = uint64_t{message.first()} + static_cast<uint64_t>(message.parent_size());
  std::vector<uint32_t>& ids = process->stack_by_id;
  if (end > kMaxStackIds || message.first() > ids.size() + ProcessTable::kMaxMissingIds ||
      !IsSound(message)) {
    return false;
  }
  const size_t bytes = end > ids.size() ? 2 * (end - ids.size()) * sizeof(uint32_t) : 0;
  if (!memory_->Take(bytes)) return false;
  process->naming_bytes += bytes;
  if (end > ids.size()) ids.resize(end, kNoStack);
  uint64_t bytes_left = kMaxInstructionBytesPerMessage;
  for (int i = 0; i < message.parent_size(); ++i) {
    const size_t id = message.first() + static_cast<size_t>(i);
    if (ids[id] != kNoStack) continue;  // an identifier is given once
    const uint32_t parent_id = message.parent(i);
    const uint32_t parent = Find(*process, parent_id);
    // Without its outer frames a stack would be another one.
    const bool outer_known = parent_id == 0 || parent != kNoStack;
    const uint32_t stack =
        outer_known ? AddOfMessage(parent, *process, message, i, &bytes_left) : kNoStack;
    if (stack == kNoStack) ++left_out_;
    ids[id] = stack;
    if (stack != kNoStack && KindAt(message, i) == STACK_FRAME_XLA_INSTRUCTION &&
        instructions_.size() < kMaxInstructions && memory_->Take(kNodeBytes)) {
      instructions_[{process->source, static_cast<uint32_t>(id)}] = {parent, stack};
    }
  }
  return true;
}

}  // namespace utlz
