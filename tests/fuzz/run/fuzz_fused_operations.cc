// A kernel's name of any bytes: its operations are parts of it, in its order.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collector/kernel_names/fused_operations.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(bytes), size);
  const std::vector<std::string_view> operations = utlz::FusedOperationsOf(name);
  if (operations.size() > utlz::kMostFusedOperations) std::abort();
  const char* at = name.data();
  for (const std::string_view operation : operations) {
    if (operation.empty() || operation.data() < at) std::abort();
    at = operation.data() + operation.size();
    if (at > name.data() + name.size()) std::abort();
  }
  const std::string text = utlz::FusedOperationsText(name);
  if (text.size() > utlz::kMaxFusedOperationsBytes) std::abort();
  if (text.empty() != operations.empty()) std::abort();
  return 0;
}
