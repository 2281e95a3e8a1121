// UUIDs of GPUs as text: "GPU-00112233-4455-6677-8899-aabbccddeeff", as nvidia-smi writes them.
// Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_GPU_UUID_H_
#define UTLZ_COLLECTOR_GPU_UUID_H_

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace utlz {

inline constexpr size_t kGpuUuidBytes = 16;

// The text of 16 bytes; empty where there are more or fewer, as of an unknown device.
inline std::string FormatGpuUuid(std::string_view uuid) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  if (uuid.size() != kGpuUuidBytes) return {};
  std::string text = "GPU-";
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid[i]);
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 15];
  }
  return text;
}

// The 16 bytes of such a text; nothing where it is none.
inline std::optional<std::string> ParseGpuUuid(std::string_view text) {
  constexpr std::string_view kPrefix = "GPU-";
  if (text.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  std::string digits;
  for (const char digit : text.substr(kPrefix.size())) {
    if (digit != '-') digits += digit;
  }
  std::string uuid;
  for (size_t i = 0; i + 1 < digits.size() && uuid.size() < kGpuUuidBytes; i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(&digits[i], &digits[i] + 2, byte, 16);
    if (error != std::errc() || end != &digits[i] + 2) return std::nullopt;
    uuid += static_cast<char>(byte);
  }
  if (FormatGpuUuid(uuid) != text) return std::nullopt;
  return uuid;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_GPU_UUID_H_
