// One launch batch of any bytes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collector/decode/launch_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static auto* const decoder = new utlz::LaunchDecoder();
  const utlz::DecodedLaunches* decoded =
      decoder->Decode(std::string_view(reinterpret_cast<const char*>(bytes), size));
  if (decoded == nullptr) return 0;
  uint64_t launches = 0;
  for (const utlz::LaunchSegment& segment : decoded->segments) launches += segment.launches;
  if (launches != decoded->launches.size()) std::abort();
  for (const utlz::Launch& launch : decoded->launches) {
    if (launch.end_ns < launch.start_ns || launch.variant >= utlz::kMaxVariantIds) std::abort();
  }
  return 0;
}
