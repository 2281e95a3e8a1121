#include "tools/report_html/pack.h"

#include <zlib.h>

#include <cstdint>

namespace utlz {
namespace {

// Below this a person may want to read the data in the file.
constexpr size_t kLeastPackedBytes = 256 << 10;

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string Base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<uint8_t>(group[k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= group.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string PackJson(std::string_view json) {
  if (json.size() < kLeastPackedBytes) return std::string(json);
  uLongf size = compressBound(json.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(json.data()), json.size(), 6) != Z_OK) {
    return std::string(json);
  }
  packed.resize(size);
  return "{\"deflate\":\"" + Base64(packed) + "\"}";
}

}  // namespace utlz
