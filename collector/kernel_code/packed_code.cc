#include "collector/kernel_code/packed_code.h"

namespace utlz {
namespace {

// Another one where the fields of InstructionCounts change.
constexpr uint32_t kLayout = 1;

constexpr uint32_t InstructionCounts::*kCounts[] = {
    &InstructionCounts::all,      &InstructionCounts::fma,        &InstructionCounts::fp32,
    &InstructionCounts::alu,      &InstructionCounts::xu,         &InstructionCounts::lsu,
    &InstructionCounts::any_pipe, &InstructionCounts::fp32_flops, &InstructionCounts::half_flops,
    &InstructionCounts::unknown,
};
static_assert(sizeof(InstructionCounts) == sizeof(uint32_t) * std::size(kCounts));

void Pack(const InstructionCounts& counts, std::vector<uint32_t>* words) {
  for (const auto count : kCounts) words->push_back(counts.*count);
}

void Pack(const CodeBlock& block, std::vector<uint32_t>* words) {
  Pack(block.always, words);
  words->push_back(static_cast<uint32_t>(block.choices.size()));
  words->push_back(static_cast<uint32_t>(block.successors.size()));
  words->push_back(static_cast<uint32_t>(block.joined_since.size()));
  words->push_back(block.callee);
  for (const CodeChoice& choice : block.choices) {
    words->push_back(static_cast<uint32_t>(choice.way_out));
    Pack(choice.held, words);
    Pack(choice.not_held, words);
  }
  words->insert(words->end(), block.successors.begin(), block.successors.end());
  words->insert(words->end(), block.joined_since.begin(), block.joined_since.end());
}

// Takes words from the front. Once they have run out all further ones are 0, and `ok` is false.
class Words {
 public:
  explicit Words(std::span<const uint32_t> words) : words_(words) {}

  uint32_t Take() {
    if (words_.empty()) {
      ok_ = false;
      return 0;
    }
    const uint32_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  // A number of things that follow, each of a word at least.
  uint32_t TakeNumber() {
    const uint32_t number = Take();
    if (number <= words_.size()) return number;
    ok_ = false;
    return 0;
  }
  bool ok() const { return ok_; }
  bool all_taken() const { return words_.empty(); }

 private:
  std::span<const uint32_t> words_;
  bool ok_ = true;
};

InstructionCounts TakeCounts(Words* words) {
  InstructionCounts counts;
  for (const auto count : kCounts) counts.*count = words->Take();
  return counts;
}

CodeChoice TakeChoice(Words* words) {
  CodeChoice choice;
  const uint32_t way_out = words->Take();
  if (way_out <= static_cast<uint32_t>(WayOut::kFirstIfNot)) {
    choice.way_out = static_cast<WayOut>(way_out);
  }
  choice.held = TakeCounts(words);
  choice.not_held = TakeCounts(words);
  return choice;
}

void TakeIndices(uint32_t number, Words* words, std::vector<uint32_t>* indices) {
  for (uint32_t i = 0; i < number && words->ok(); ++i) indices->push_back(words->Take());
}

CodeBlock TakeBlock(Words* words) {
  CodeBlock block;
  block.always = TakeCounts(words);
  const uint32_t choices = words->TakeNumber();
  const uint32_t successors = words->TakeNumber();
  const uint32_t joined_since = words->TakeNumber();
  block.callee = words->Take();
  for (uint32_t i = 0; i < choices && words->ok(); ++i) block.choices.push_back(TakeChoice(words));
  TakeIndices(successors, words, &block.successors);
  TakeIndices(joined_since, words, &block.joined_since);
  return block;
}

}  // namespace

std::vector<uint32_t> PackCode(const KernelCode& code) {
  std::vector<uint32_t> words = {kLayout, static_cast<uint32_t>(code.blocks.size())};
  for (const CodeBlock& block : code.blocks) Pack(block, &words);
  return words;
}

std::optional<KernelCode> UnpackCode(uint32_t compute_capability, std::span<const uint32_t> words) {
  Words left(words);
  if (left.Take() != kLayout) return std::nullopt;
  const uint32_t blocks = left.TakeNumber();
  if (blocks > kMostCodeBlocks) return std::nullopt;
  KernelCode code{.compute_capability = compute_capability, .blocks = {}};
  size_t choices = 0;
  for (uint32_t i = 0; i < blocks && left.ok() && choices <= kMostCodeChoices; ++i) {
    code.blocks.push_back(TakeBlock(&left));
    choices += code.blocks.back().choices.size();
  }
  if (!left.ok() || !left.all_taken() || choices > kMostCodeChoices) return std::nullopt;
  return code;
}

}  // namespace utlz
