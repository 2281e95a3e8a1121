#include "inject/python/python_text.h"

#include <algorithm>

namespace utlz::agent {
namespace {

constexpr uint64_t kTextLength = 16;
constexpr uint64_t kTextState = 32;
constexpr uint64_t kMostLength = 1 << 30;

uint32_t EncodeUtf8(uint32_t character, char out[4]) {
  const auto part = [character](uint32_t shift) {
    return static_cast<char>(0x80 | (character >> shift & 0x3f));
  };
  if (character < 0x80) {
    out[0] = static_cast<char>(character);
    return 1;
  }
  if (character < 0x800) {
    out[0] = static_cast<char>(0xc0 | character >> 6);
    out[1] = part(0);
    return 2;
  }
  // Half of a pair, as Python has it in names of files that are not UTF-8, or no character at all.
  if ((character >= 0xd800 && character < 0xe000) || character > 0x10ffff) character = 0xfffd;
  if (character < 0x10000) {
    out[0] = static_cast<char>(0xe0 | character >> 12);
    out[1] = static_cast<char>(0x80 | (character >> 6 & 0x3f));
    out[2] = static_cast<char>(0x80 | (character & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | character >> 18);
  out[1] = part(12);
  out[2] = part(6);
  out[3] = part(0);
  return 4;
}

struct TextPlace {
  uint64_t characters = 0;
  uint64_t length = 0;
  uint32_t character_bytes = 1;
  uint32_t utf8_bytes = 4;  // of one character, at most
};

// A str whose characters follow its head, as those of names in code objects do.
bool FindText(const PythonLayout& layout, MemoryPages* memory, uint64_t text, TextPlace* place) {
  uint32_t state = 0;
  if (!memory->CopyValue(text + kTextLength, &place->length) || place->length > kMostLength ||
      !memory->CopyValue(text + kTextState, &state)) {
    return false;
  }
  const bool is_compact = (state >> 5 & 1) != 0;
  const bool is_ascii = (state >> 6 & 1) != 0;
  place->character_bytes = state >> 2 & 7;
  place->characters = text + (is_ascii ? layout.text_ascii : layout.text_compact);
  place->utf8_bytes = is_ascii ? 1 : std::min(place->character_bytes + 1, 4u);
  return is_compact && (place->character_bytes == 1 || place->character_bytes == 2 ||
                        place->character_bytes == 4);
}

}  // namespace

bool CopyText(const PythonLayout& layout, MemoryPages* memory, uint64_t text, bool keep_end,
              char* out, uint32_t capacity) {
  TextPlace place;
  out[0] = 0;
  if (!FindText(layout, memory, text, &place)) return false;
  const uint64_t taken = std::min<uint64_t>(place.length, (capacity - 1) / place.utf8_bytes);
  const uint64_t first = keep_end ? place.length - taken : 0;
  uint32_t used = 0;
  for (uint64_t i = first; i < first + taken;) {
    uint8_t chunk[256];
    const uint64_t count = std::min<uint64_t>(first + taken - i, sizeof(chunk) / 4);
    const uint64_t bytes = count * place.character_bytes;
    if (!memory->Copy(place.characters + i * place.character_bytes, chunk, bytes)) return false;
    for (uint64_t at = 0; at < count; ++at) {
      uint32_t character = 0;
      for (uint32_t byte = 0; byte < place.character_bytes; ++byte) {
        character |= uint32_t{chunk[at * place.character_bytes + byte]} << 8 * byte;
      }
      used += EncodeUtf8(character, out + used);
    }
    i += count;
  }
  out[used] = 0;
  return true;
}

}  // namespace utlz::agent
