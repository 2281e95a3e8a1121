#include "collector/decode/compiled_operations.h"

#include <algorithm>
#include <set>
#include <utility>

#include "collector/decode/columns.h"

namespace utlz {
namespace {

const std::set<std::string_view> kViews = {
    "_unsafe_view", "alias",   "as_strided", "detach", "diagonal",  "expand",
    "permute",      "reshape", "select",     "slice",  "split",     "split_with_sizes",
    "squeeze",      "t",       "transpose",  "unbind", "unflatten", "unsqueeze",
    "view"};

bool IsName(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '.';
  });
}

bool IsSound(const CompiledCode& message) {
  const int count = message.line_size();
  if (count > CompiledOperations::kMaxLaunchesPerMessage || !FitsOrAbsent(message.lines(), count) ||
      !FitsOrAbsent(message.operations(), count)) {
    return false;
  }
  uint64_t end = 1;
  for (int i = 0; i < count; ++i) {
    if (message.line(i) < end) return false;
    end = uint64_t{message.line(i)} + ValueAt(message.lines(), i);
  }
  return end <= UINT32_MAX;
}

}  // namespace

std::string CompiledOperationsText(std::string_view list) {
  constexpr std::string_view kSeparator = ", ", kLibrary = "aten.";
  std::set<std::string_view> all, work;
  list = list.substr(0, CompiledOperations::kMaxListBytes);
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(kSeparator, begin), list.size());
    std::string_view word = list.substr(begin, end - begin);
    begin = end + kSeparator.size();
    if (word.starts_with(kLibrary)) word.remove_prefix(kLibrary.size());
    if (!IsName(word)) continue;
    all.insert(word);
    if (!kViews.contains(word)) work.insert(word);
  }
  std::string text;
  for (const std::string_view word : work.empty() ? all : work) {
    if (text.size() + word.size() > CompiledOperations::kMaxShownBytes - 16) return text + " + …";
    text.append(text.empty() ? "" : " + ").append(word);
  }
  return text;
}

bool CompiledOperations::Add(const CompiledCode& message,
                             const std::function<std::string_view(uint32_t)>& text_of) {
  if (!IsSound(message)) return false;
  std::string_view path = text_of(message.file());
  path = path.substr(path.size() - std::min(path.size(), kMaxPathBytes));
  if (path.empty() || files_.size() >= kMaxFiles) return true;
  const auto [file, is_new] = files_.try_emplace(std::string(path));
  if (!is_new) return true;
  for (int i = 0; i < message.line_size() && launches_ < kMaxLaunches; ++i) {
    std::string text = CompiledOperationsText(text_of(ValueAt(message.operations(), i)));
    auto known = text_ids_.find(text);
    if (known == text_ids_.end()) {
      if (text.empty() || texts_.size() >= kMaxTexts) continue;
      known = text_ids_.emplace(text, static_cast<uint32_t>(texts_.size())).first;
      texts_.push_back(std::move(text));
    }
    file->second.push_back(
        {message.line(i), message.line(i) + ValueAt(message.lines(), i), known->second});
    ++launches_;
  }
  return true;
}

const std::vector<CompiledOperations::Launch>* CompiledOperations::LaunchesOf(
    const std::string& file) const {
  const auto known = files_.find(file);
  return known == files_.end() || known->second.empty() ? nullptr : &known->second;
}

const std::string* CompiledOperations::Find(const std::string& file, uint32_t line) const {
  const std::vector<Launch>* launches = LaunchesOf(file);
  if (launches == nullptr) return nullptr;
  auto after = std::upper_bound(launches->begin(), launches->end(), line,
                                [](uint32_t at, const Launch& launch) { return at < launch.line; });
  if (after == launches->begin() || line >= (--after)->end) return nullptr;
  return &texts_[after->text];
}

}  // namespace utlz
