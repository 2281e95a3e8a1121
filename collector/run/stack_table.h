// Stacks of launches of all processes: trees of frames, in which equal stacks of several processes
// are one.
//
// What XLA says of an instruction comes as one frame, and is kept as those that it tells of:
// functions, modules, the pass, and the instruction innermost.
//
// Trust: frames come from targets. Texts are cut, stacks are bounded in number and depth; what does
// not fit has no stack. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_STACK_TABLE_H_
#define UTLZ_COLLECTOR_RUN_STACK_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/decode/stack_frame.h"
#include "collector/run/memory_budget.h"
#include "collector/run/process_table.h"
#include "proto/profile.pb.h"

namespace utlz {

inline constexpr uint32_t kNoStack = 0;

class StackTable {
 public:
  static constexpr size_t kMaxStacks = 1u << 18;
  static constexpr int kMaxStacksPerMessage = 1 << 14;
  // Texts of instructions take time to read.
  static constexpr uint64_t kMaxInstructionBytesPerMessage = 128u << 20;
  static constexpr size_t kMaxFrames = 1u << 17;
  static constexpr size_t kMaxTextBytes = 1024;
  static constexpr uint32_t kMaxDepth = 192;
  static constexpr uint32_t kMaxStackIds = 1u << 20;  // of one process
  static constexpr size_t kMaxInstructions = 1u << 18;

  // A stack whose innermost frame is an instruction of XLA.
  struct Instruction {
    uint32_t outer = 0;  // the stack without the instruction
    uint32_t stack = 0;
  };
  // By the process's source, and the process's identifier of the stack.
  using Instructions = std::map<std::pair<uint32_t, uint32_t>, Instruction>;

  explicit StackTable(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // False where the message breaks a rule; then it had no effect.
  bool Add(ProcessState* process, const Stacks& message);

  // The stack of another table in this one; kNoStack where there is none, or no room.
  uint32_t Copy(const StackTable& other, uint32_t stack);

  // The stack that a process calls `id`; kNoStack where it has none, or none that is known.
  static uint32_t Find(const ProcessState& process, uint32_t id) {
    return id < process.stack_by_id.size() ? process.stack_by_id[id] : kNoStack;
  }

  bool empty() const { return stacks_.size() == 1; }
  // Stacks that did not fit.
  uint64_t left_out() const { return left_out_; }
  uint32_t ParentOf(uint32_t stack) const { return stacks_[stack].parent; }
  // Its innermost frame; `stack` is not kNoStack.
  const StackFrame& FrameOf(uint32_t stack) const { return frames_[stacks_[stack].frame]; }
  // The number of that frame: the same for equal frames.
  uint32_t FrameIndexOf(uint32_t stack) const { return stacks_[stack].frame; }
  const std::vector<StackFrame>& frames() const { return frames_; }
  // All but those beyond kMaxInstructions.
  const Instructions& instructions() const { return instructions_; }

 private:
  struct Stack {
    uint32_t parent = kNoStack;
    uint32_t frame = 0;
    uint32_t depth = 0;
  };
  using FrameKey =
      std::tuple<StackFrameKind, bool, bool, std::string, std::string, std::string, uint32_t>;

  // All of frame `i` of a message, or nothing. What was read is taken off `bytes_left`.
  uint32_t AddOfMessage(uint32_t parent, const ProcessState& process, const Stacks& message, int i,
                        uint64_t* bytes_left);
  uint32_t AddOne(uint32_t parent, StackFrame frame);

  std::shared_ptr<MemoryBudget> memory_;
  std::vector<StackFrame> frames_;
  std::map<FrameKey, uint32_t> frame_ids_;
  std::vector<Stack> stacks_ = {Stack{}};  // index = number; the first one is none
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> stack_ids_;  // (parent, frame)
  Instructions instructions_;
  uint64_t left_out_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_STACK_TABLE_H_
