#include "collector/kernel_code/describe_code.h"

#include <array>
#include <cstring>
#include <utility>

#include "collector/kernel_code/control_flow.h"
#include "collector/kernel_code/instruction.h"
#include "collector/kernel_code/merge_blocks.h"

namespace utlz {
namespace {

constexpr int kDescribedCapability = 90;
constexpr size_t kMostCodeBytes = size_t{1} << 20;
// Before they are merged.
constexpr size_t kMostBasicBlocks = 20'000;

std::vector<Instruction> Decode(const MachineCode& code) {
  std::vector<Instruction> instructions(code.bytes.size() / kInstructionBytes);
  for (size_t index = 0; index < instructions.size(); ++index) {
    std::array<uint64_t, 2> words;
    std::memcpy(words.data(), code.bytes.data() + index * kInstructionBytes, sizeof(words));
    instructions[index] = DecodeInstruction(words[0], words[1]);
  }
  // What the loader changes is not what stands here.
  for (const uint64_t place : code.relocated) {
    const uint64_t index = place / kInstructionBytes;
    if (index >= instructions.size()) continue;
    Instruction& instruction = instructions[index];
    instruction.sets_constant = false;
    if (instruction.flow != Flow::kNext) instruction.flow = Flow::kUnfollowable;
  }
  return instructions;
}

// Which choice stands for each predicate, at a place in a block.
class CurrentChoices {
 public:
  CurrentChoices() { choices_.fill(kNone); }

  CodeChoice& Of(uint8_t predicate, CodeBlock* block) {
    int& choice = choices_[predicate];
    if (choice == kNone) {
      choice = static_cast<int>(block->choices.size());
      block->choices.emplace_back();
    }
    return block->choices[static_cast<size_t>(choice)];
  }

  bool Has(uint8_t predicate) const { return choices_[predicate] != kNone; }

  void Forget(uint8_t written) {
    for (size_t predicate = 0; predicate < choices_.size(); ++predicate) {
      if ((written >> predicate & 1) != 0) choices_[predicate] = kNone;
    }
  }

 private:
  static constexpr int kNone = -1;
  std::array<int, 7> choices_;
};

// What a counter may count or not, and what an instruction may do or not, needs no choice.
void TakeOutWhatIsOpen(InstructionCounts* counts, InstructionCounts* always) {
  always->any_pipe += std::exchange(counts->any_pipe, 0);
  always->unknown += std::exchange(counts->unknown, 0);
}

void Count(const Instruction& instruction, CurrentChoices* current, CodeBlock* block) {
  InstructionCounts counts = instruction.counts;
  const bool of_a_predicate = instruction.guard != kAlwaysHolds;
  if (!of_a_predicate && !instruction.guard_negated && !instruction.second_condition) {
    block->always += counts;
    return;
  }
  TakeOutWhatIsOpen(&counts, &block->always);
  const bool followed =
      of_a_predicate && !instruction.of_whole_warps && !instruction.second_condition;
  if (!followed) {
    block->choices.push_back({counts, {}, WayOut::kEither});
    return;
  }
  CodeChoice& choice = current->Of(instruction.guard, block);
  (instruction.guard_negated ? choice.not_held : choice.held) += counts;
}

void SetWayOut(const Instruction& last, CurrentChoices* current, CodeBlock* block) {
  const bool decides =
      block->successors.size() == 2 && !last.second_condition &&
      (last.flow == Flow::kBranch || last.flow == Flow::kExit || last.flow == Flow::kReturn) &&
      last.guard != kAlwaysHolds && current->Has(last.guard);
  if (!decides) return;
  current->Of(last.guard, block).way_out =
      last.guard_negated ? WayOut::kFirstIfNot : WayOut::kFirstIfHeld;
}

CodeBlock Describe(const BasicBlock& basic, const std::vector<Instruction>& code) {
  CodeBlock block;
  block.successors = basic.successors;
  block.callee = basic.callee;
  block.joined_since = basic.joined_since;
  CurrentChoices current;
  for (uint32_t index = basic.first; index < basic.end; ++index) {
    Count(code[index], &current, &block);
    if (index + 1 < basic.end) current.Forget(code[index].predicates_written);
  }
  SetWayOut(code[basic.end - 1], &current, &block);
  return block;
}

}  // namespace

std::optional<KernelCode> DescribeCode(const MachineCode& code, int compute_capability) {
  if (compute_capability != kDescribedCapability) return std::nullopt;
  if (code.bytes.size() > kMostCodeBytes) return std::nullopt;
  const std::vector<Instruction> instructions = Decode(code);
  const std::optional<std::vector<BasicBlock>> blocks = FindBlocks(instructions);
  if (!blocks.has_value() || blocks->size() > kMostBasicBlocks) return std::nullopt;
  KernelCode described;
  described.compute_capability = static_cast<uint32_t>(compute_capability);
  std::vector<bool> lanes_may_join;
  for (const BasicBlock& block : *blocks) {
    described.blocks.push_back(Describe(block, instructions));
    lanes_may_join.push_back(block.lanes_may_join);
  }
  MergeBlocks(std::move(lanes_may_join), &described.blocks);
  size_t choices = 0;
  for (const CodeBlock& block : described.blocks) choices += block.choices.size();
  if (described.blocks.size() > kMostCodeBlocks || choices > kMostCodeChoices) return std::nullopt;
  return described;
}

}  // namespace utlz
