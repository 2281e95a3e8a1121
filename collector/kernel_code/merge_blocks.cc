#include "collector/kernel_code/merge_blocks.h"

#include <cstddef>
#include <numeric>
#include <utility>

namespace utlz {
namespace {

class Merger {
 public:
  Merger(std::vector<bool> lanes_may_join, std::vector<CodeBlock>* blocks)
      : lanes_may_join_(std::move(lanes_may_join)), blocks_(*blocks) {}

  void Merge() {
    JoinChains();
    KeepUnjoined();
  }

 private:
  // How many ways lead into each block. The start of the code and of functions
  // count twice: they join no other.
  std::vector<uint32_t> CountWaysIn() const {
    std::vector<uint32_t> ways(blocks_.size(), 0);
    ways[0] = 2;
    for (const CodeBlock& block : blocks_) {
      for (const uint32_t next : block.successors) {
        if (next != kThreadEnds) ++ways[next];
      }
      if (block.callee != kCallsNothing) ways[block.callee] += 2;
    }
    return ways;
  }

  void JoinChains() {
    const std::vector<uint32_t> ways = CountWaysIn();
    head_.resize(blocks_.size());
    std::iota(head_.begin(), head_.end(), 0);
    for (uint32_t index = 0; index < blocks_.size(); ++index) {
      CodeBlock& block = blocks_[index];
      while (head_[index] == index && block.successors.size() == 1 && !lanes_may_join_[index]) {
        const uint32_t next = block.successors[0];
        if (next == kThreadEnds || next == index || ways[next] != 1) break;
        CodeBlock& other = blocks_[next];
        block.always += other.always;
        block.choices.insert(block.choices.end(), other.choices.begin(), other.choices.end());
        block.successors = std::move(other.successors);
        block.callee = other.callee;
        lanes_may_join_[index] = lanes_may_join_[next];
        block.joined_since = std::move(other.joined_since);
        head_[next] = index;
      }
    }
  }

  // Joined chains may have been joined with others.
  uint32_t HeadOf(uint32_t index) const {
    while (head_[index] != index) index = head_[index];
    return index;
  }

  void KeepUnjoined() {
    std::vector<uint32_t> place(blocks_.size(), kThreadEnds);
    std::vector<CodeBlock> kept;
    for (size_t index = 0; index < blocks_.size(); ++index) {
      if (head_[index] != index) continue;
      place[index] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(blocks_[index]));
    }
    for (CodeBlock& block : kept) {
      for (uint32_t& next : block.successors) {
        if (next != kThreadEnds) next = place[next];
      }
      if (block.callee != kCallsNothing) block.callee = place[block.callee];
      for (uint32_t& opening : block.joined_since) opening = place[HeadOf(opening)];
    }
    blocks_ = std::move(kept);
  }

  std::vector<bool> lanes_may_join_;
  std::vector<uint32_t> head_ = {};  // of a block that was joined with one before it: that one
  std::vector<CodeBlock>& blocks_;
};

}  // namespace

void MergeBlocks(std::vector<bool> lanes_may_join, std::vector<CodeBlock>* blocks) {
  if (!blocks->empty()) Merger(std::move(lanes_may_join), blocks).Merge();
}

}  // namespace utlz
