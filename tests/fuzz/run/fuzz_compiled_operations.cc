// A message of any bytes about compiled code: what is known afterwards is a name that can be shown.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collector/decode/compiled_operations.h"
#include "collector/decode/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::string shown = utlz::CompiledOperationsText(input);
  if (shown.size() > utlz::CompiledOperations::kMaxShownBytes) std::abort();
  utlz::CompiledCode message;
  if (!utlz::Parse(input, &message)) return 0;
  utlz::CompiledOperations operations;
  const auto text_of = [input](uint32_t id) { return input.substr(id % (input.size() + 1)); };
  if (!operations.Add(message, text_of) && !operations.empty()) std::abort();
  std::string path(text_of(message.file()));
  if (path.size() > utlz::CompiledOperations::kMaxPathBytes) return 0;
  for (const uint32_t line : message.line()) {
    const std::string* text = operations.Find(path, line);
    if (text != nullptr && (text->empty() || text->find('\x1b') != std::string::npos)) std::abort();
  }
  return 0;
}
