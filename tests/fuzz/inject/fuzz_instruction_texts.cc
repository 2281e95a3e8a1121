// Texts of any bytes that a target registers with NVTX, one a line: what is known of each title is
// a part of what was registered after it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "inject/xla/instruction_texts.h"

namespace {

using utlz::agent::InstructionTexts;

struct Registered {
  uint32_t title;
  std::string text;
  std::string after;  // all texts until the next title
};

void Check(const InstructionTexts& texts, const Registered& registered) {
  const InstructionTexts::Texts known = texts.TextsOf(registered.title);
  const std::string_view title = known.title, operation = known.operation, lines = known.lines;
  if (title != std::string_view(registered.text).substr(0, title.size()) || title.empty()) abort();
  if (title.size() > InstructionTexts::kMostTextBytes) abort();
  if (registered.after.find(operation) == std::string::npos) abort();
  if (operation.find('"') != std::string_view::npos) abort();  // it ends there
  if (registered.after.find(lines) == std::string::npos) abort();
  if (!lines.empty() && !lines.starts_with("\n- ")) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static InstructionTexts* const texts = new InstructionTexts;
  static const bool created = texts->Create();
  if (!created) abort();
  std::string_view rest(reinterpret_cast<const char*>(bytes), size);
  std::vector<Registered> all;
  uint32_t title = 0;
  while (!rest.empty()) {
    // '|' for a new line, as texts hold them.
    std::string text(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(text.size() + (text.size() < rest.size() ? 1 : 0));
    for (char& c : text) c = c == '|' ? '\n' : c;
    const uint32_t before = texts->size();
    title = texts->Register(text.c_str(), title);
    if (texts->size() != before) {
      all.push_back({title, text.c_str(), ""});
    } else if (!all.empty()) {
      all.back().after += text.c_str();
    }
  }
  for (const Registered& registered : all) Check(*texts, registered);
  return 0;
}
