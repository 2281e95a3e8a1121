#include "collector/timeline/step_marks.h"

#include <algorithm>
#include <cctype>

namespace utlz {
namespace {

constexpr size_t kFewestSteps = 3;
constexpr size_t kLongestName = 64;
constexpr std::string_view kWords[] = {"step", "iteration", "iter"};

// Lower case, digits and separators dropped: "Step #12" and "step 13" are one name.
std::string Normalized(std::string_view name) {
  std::string normalized;
  for (const char c : name.substr(0, kLongestName)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) normalized += static_cast<char>(std::tolower(byte));
  }
  return normalized;
}

bool NamesAStep(const std::string& normalized) {
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    const size_t at = normalized.rfind(word);
    return at != std::string::npos && (at == 0 || at + word.size() == normalized.size());
  });
}

}  // namespace

// "optimizer step" and the like are parts of a step: the word has to be all of the name, but for
// what a framework puts before it.
void StepMarks::Add(uint32_t source, std::string_view name, uint64_t start_ns, uint64_t end_ns) {
  std::string normalized = Normalized(name);
  if (!NamesAStep(normalized) || normalized.find("optim") != std::string::npos) return;
  auto key = std::make_pair(source, std::move(normalized));
  if (marks_.size() >= kMaxNames && !marks_.contains(key)) return;
  Marks& marks = marks_[std::move(key)];
  if (marks.added++ % marks.stride != 0) return;
  marks.kept.emplace_back(start_ns, end_ns);
  if (marks.kept.size() < kMostMarks) return;
  for (size_t i = 1; 2 * i < marks.kept.size(); ++i) marks.kept[i] = marks.kept[2 * i];
  marks.kept.resize((marks.kept.size() + 1) / 2);
  marks.stride *= 2;
}

std::vector<std::pair<uint64_t, uint64_t>> StepMarks::Steps() const {
  const Marks* most = nullptr;
  for (const auto& [key, marks] : marks_) ChooseMostFrequent(marks, &most);
  return InOrder(most);
}

std::vector<std::pair<uint64_t, uint64_t>> StepMarks::StepsOf(uint32_t source) const {
  const Marks* most = nullptr;
  for (const auto& [key, marks] : marks_) {
    if (key.first == source) ChooseMostFrequent(marks, &most);
  }
  return InOrder(most);
}

void StepMarks::ChooseMostFrequent(const Marks& marks, const Marks** most) {
  if (marks.kept.size() < kFewestSteps) return;
  if (*most == nullptr || marks.added > (*most)->added) *most = &marks;
}

std::vector<std::pair<uint64_t, uint64_t>> StepMarks::InOrder(const Marks* marks) {
  if (marks == nullptr) return {};
  auto steps = marks->kept;
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace utlz
