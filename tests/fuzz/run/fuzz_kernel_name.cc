// A kernel's name of any bytes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collector/kernel_names/kernel_name.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(bytes), size);
  const std::string demangled = utlz::DemangleKernelName(name);
  if (demangled.size() > utlz::kMaxDemangledNameBytes) std::abort();
  if (utlz::ShortenKernelName(demangled).size() > utlz::kMaxShortNameBytes) std::abort();
  return 0;
}
