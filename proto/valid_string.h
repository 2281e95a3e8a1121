// A string's text made well-formed UTF-8, as protobuf's `string` must be.
#ifndef UTLZ_PROTO_VALID_STRING_H_
#define UTLZ_PROTO_VALID_STRING_H_

#include <string>

#include "proto/valid_text.h"

namespace utlz {

// Each byte that belongs to no character becomes a question mark.
inline std::string ValidText(std::string text) {
  MakeValidUtf8(text.data(), text.size());
  return text;
}

}  // namespace utlz

#endif  // UTLZ_PROTO_VALID_STRING_H_
