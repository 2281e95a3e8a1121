// A file of any bytes: launches that it tells of lie in it, one after another, with operations that
// are a part of it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inject/python/compiled_code.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using utlz::agent::CompiledCodeReader;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  CompiledCodeReader reader(text);
  uint64_t end = 1;
  for (utlz::agent::CompiledLaunch launch; reader.Next(&launch);) {
    if (launch.line <= end || launch.lines == 0) std::abort();
    end = uint64_t{launch.line} + launch.lines - 1;
    if (end > size) std::abort();  // each line has a byte at least
    const std::string_view operations = launch.operations;
    if (operations.empty() || operations.size() > CompiledCodeReader::kMostOperationsBytes ||
        operations.data() < text.data() ||
        operations.data() + operations.size() > text.data() + text.size()) {
      std::abort();
    }
  }
  return 0;
}
