#include "collector/kernel_code/control_flow.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace utlz {
namespace {

// Of a kernel that can be described. Looking at each takes time by the size of the code.
constexpr size_t kMostFunctions = 50;
constexpr size_t kMostOpenings = 20;  // of one region

bool EndsBlock(Flow flow) { return flow != Flow::kNext && flow != Flow::kBarrier; }

// Instructions whose guard never holds do nothing.
bool IsDone(const Instruction& instruction) {
  return instruction.guard != kAlwaysHolds || !instruction.guard_negated;
}

bool IsConditional(const Instruction& instruction) {
  return instruction.guard != kAlwaysHolds || instruction.second_condition;
}

class Blocks {
 public:
  explicit Blocks(const std::vector<Instruction>& code)
      : code_(code), size_(static_cast<uint32_t>(code.size())) {}

  std::optional<std::vector<BasicBlock>> Find() {
    if (size_ == 0) return std::nullopt;
    MarkStarts();
    for (BasicBlock& block : blocks_) {
      if (!Connect(&block)) block.successors.clear();  // fails below where threads reach it
    }
    if (!KeepReachable() || !CallsReturnBehindThemselves()) return std::nullopt;
    LetCallsEnd();
    return std::move(blocks_);
  }

 private:
  // The instruction to which this one leads; size_ where there is none.
  uint32_t TargetOf(uint32_t index) const {
    const int64_t place =
        (static_cast<int64_t>(index) + 1) * kInstructionBytes + code_[index].target;
    if (place < 0 || place % kInstructionBytes != 0) return size_;
    return static_cast<uint32_t>(std::min<int64_t>(place / kInstructionBytes, size_));
  }

  bool HasTarget(uint32_t index) const {
    const Flow flow = code_[index].flow;
    return flow == Flow::kBranch || flow == Flow::kCall || flow == Flow::kCollective;
  }

  void MarkStarts() {
    std::vector<bool> starts(size_ + 1, false);
    starts[0] = true;
    for (uint32_t index = 0; index < size_; ++index) {
      if (!IsDone(code_[index])) continue;
      if (EndsBlock(code_[index].flow)) starts[index + 1] = true;
      if (HasTarget(index)) starts[TargetOf(index)] = true;
      if (code_[index].flow == Flow::kBarrier) {
        regions_[{code_[index].barrier, TargetOf(index)}].push_back(index);
      }
    }
    starts[size_] = true;
    block_of_.assign(size_ + 1, kThreadEnds);
    uint32_t first = 0;
    for (uint32_t index = 1; index <= size_; ++index) {
      if (!starts[index]) continue;
      block_of_[first] = static_cast<uint32_t>(blocks_.size());
      blocks_.push_back({first, index});
      first = index;
    }
  }

  // False where the way leads out of the code.
  bool Lead(uint32_t instruction, BasicBlock* block) const {
    if (instruction >= size_) return false;
    block->successors.push_back(block_of_[instruction]);
    return true;
  }

  bool FindOpenings(uint8_t barrier, BasicBlock* block) const {
    const auto region = regions_.find({barrier, block->end});
    if (region == regions_.end() || region->second.size() > kMostOpenings) return false;
    for (const uint32_t opening : region->second) {
      const auto behind = std::upper_bound(
          blocks_.begin(), blocks_.end(), opening,
          [](uint32_t place, const BasicBlock& other) { return place < other.first; });
      block->joined_since.push_back(static_cast<uint32_t>(behind - blocks_.begin()) - 1);
    }
    return true;
  }

  bool Connect(BasicBlock* block) const {
    const uint32_t last = block->end - 1;
    const Instruction& instruction = code_[last];
    const bool conditional = IsConditional(instruction);
    block->lanes_may_join =
        instruction.flow == Flow::kWait || instruction.flow == Flow::kTogether ||
        instruction.flow == Flow::kCollective || instruction.flow == Flow::kCall;
    if (!IsDone(instruction)) return Lead(block->end, block);
    switch (instruction.flow) {
      case Flow::kNext:
      case Flow::kBarrier:
      case Flow::kTogether:
        return Lead(block->end, block);
      case Flow::kBranch:
        return Lead(TargetOf(last), block) && (!conditional || Lead(block->end, block));
      case Flow::kExit:
      case Flow::kReturn:
        block->successors.push_back(kThreadEnds);
        return !conditional || Lead(block->end, block);
      case Flow::kCall:
        if (conditional || TargetOf(last) >= size_) return false;
        block->callee = block_of_[TargetOf(last)];
        return Lead(block->end, block);
      case Flow::kWait:
        // Who waits goes on behind the region; that this is the next instruction is checked.
        return FindOpenings(instruction.barrier, block) && Lead(block->end, block);
      case Flow::kCollective:
        return Lead(TargetOf(last), block) && Lead(block->end, block);
      case Flow::kUnfollowable:
        return false;
    }
    return false;
  }

  std::vector<bool> ReachableFrom(uint32_t start, bool into_calls) const {
    std::vector<bool> reached(blocks_.size(), false);
    std::vector<uint32_t> open = {start};
    while (!open.empty()) {
      const uint32_t block = open.back();
      open.pop_back();
      if (block == kThreadEnds || reached[block]) continue;
      reached[block] = true;
      open.insert(open.end(), blocks_[block].successors.begin(), blocks_[block].successors.end());
      if (into_calls && blocks_[block].callee != kCallsNothing) {
        open.push_back(blocks_[block].callee);
      }
    }
    return reached;
  }

  bool KeepReachable() {
    const std::vector<bool> reached = ReachableFrom(0, true);
    std::vector<uint32_t> place(blocks_.size(), kThreadEnds);
    std::vector<BasicBlock> kept;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      if (!reached[block]) continue;
      if (blocks_[block].successors.empty()) return false;
      place[block] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(blocks_[block]));
    }
    for (BasicBlock& block : kept) {
      for (uint32_t& next : block.successors) {
        if (next != kThreadEnds) next = place[next];
      }
      if (block.callee != kCallsNothing) block.callee = place[block.callee];
      std::vector<uint32_t> reached_openings;
      for (const uint32_t opening : block.joined_since) {
        if (reached[opening]) reached_openings.push_back(place[opening]);
      }
      block.joined_since = std::move(reached_openings);
    }
    blocks_ = std::move(kept);
    return true;
  }

  // A function returns to an address that it was given in a register. Before each call the code
  // must put the address behind the call into one.
  bool CallsReturnBehindThemselves() const {
    std::set<uint32_t> functions;
    for (const BasicBlock& block : blocks_) {
      if (block.callee == kCallsNothing) continue;
      functions.insert(block.callee);
      bool found = false;
      for (uint32_t index = block.first; index < block.end; ++index) {
        found |=
            code_[index].sets_constant && code_[index].constant == block.end * kInstructionBytes;
      }
      if (!found || functions.size() > kMostFunctions) return false;
    }
    return true;
  }

  // Threads that end in a function do not come back from it.
  void LetCallsEnd() {
    std::map<uint32_t, bool> ends;  // by callee
    for (const BasicBlock& block : blocks_) {
      if (block.callee == kCallsNothing || ends.count(block.callee) > 0) continue;
      const std::vector<bool> function = ReachableFrom(block.callee, true);
      bool exits = false;
      for (size_t inner = 0; inner < blocks_.size(); ++inner) {
        exits |= function[inner] && code_[blocks_[inner].end - 1].flow == Flow::kExit;
      }
      ends[block.callee] = exits;
    }
    for (BasicBlock& block : blocks_) {
      if (block.callee != kCallsNothing && ends[block.callee]) {
        block.successors.push_back(kThreadEnds);
      }
    }
  }

  const std::vector<Instruction>& code_;
  const uint32_t size_;
  // By barrier and the instruction behind the region: the instructions that open it.
  std::map<std::pair<uint8_t, uint32_t>, std::vector<uint32_t>> regions_;
  std::vector<uint32_t> block_of_;  // by a block's first instruction
  std::vector<BasicBlock> blocks_;
};

}  // namespace

std::optional<std::vector<BasicBlock>> FindBlocks(const std::vector<Instruction>& code) {
  return Blocks(code).Find();
}

}  // namespace utlz
