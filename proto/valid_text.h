// Text of the machine (arguments, paths, names of kernels) may be any bytes, but a protobuf string
// that is not UTF-8 is refused with the whole message that it is part of.
#ifndef UTLZ_PROTO_VALID_TEXT_H_
#define UTLZ_PROTO_VALID_TEXT_H_

#include <cstddef>
#include <cstdint>

namespace utlz {

// How many bytes the well-formed UTF-8 character at `text` has, at most `size`; 0: it is not one.
inline size_t Utf8Length(const char* text, size_t size) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || length > size) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Too long a form, a surrogate, beyond the last character.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

// Puts a question mark in the place of every byte that is not part of well-formed UTF-8.
inline void MakeValidUtf8(char* text, size_t size) {
  for (size_t at = 0; at < size;) {
    const size_t length = Utf8Length(text + at, size - at);
    if (length == 0) text[at] = '?';
    at += length == 0 ? 1 : length;
  }
}

}  // namespace utlz

#endif  // UTLZ_PROTO_VALID_TEXT_H_
