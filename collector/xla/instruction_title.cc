#include "collector/xla/instruction_title.h"

namespace utlz {
namespace {

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// The value of the last field of this name: names of operations may hold commas.
std::string_view LastField(std::string_view key, std::string_view text) {
  const size_t begin = text.rfind(key);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + key.size());
  return text.substr(0, text.find_first_of(",#"));
}

}  // namespace

XlaTitle ParseXlaTitle(std::string_view title) {
  constexpr std::string_view kInstruction = "hlo_op=", kProgram = "hlo_module=";
  XlaTitle result;
  if (TakePrefix("XlaModule:#", &title)) {
    result.is_program = true;
    result.is_trial = title.find(",program_id=") == std::string_view::npos;
    result.instruction = LastField(kProgram, title);
  } else if (TakePrefix("Thunk:#", &title)) {
    result.instruction = LastField(kInstruction, title);
    const size_t end = title.rfind(",hlo_op=");
    if (end != std::string_view::npos && TakePrefix("name=", &title)) {
      result.common_name = title.substr(0, end - std::string_view("name=").size());
    }
  }
  return result;
}

}  // namespace utlz
