// Parsing of untrusted payloads within bounds.
#ifndef UTLZ_COLLECTOR_MODEL_PARSE_H_
#define UTLZ_COLLECTOR_MODEL_PARSE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace utlz {

// Columnar frames may be as large as a frame can be; the others describe, and are small.
inline constexpr size_t kMaxDescriptionBytes = 4u << 20;

// False where the payload is too large or no such message.
template <typename Message>
bool Parse(std::string_view payload, Message* message,
           size_t maximum_bytes = kMaxDescriptionBytes) {
  return payload.size() <= maximum_bytes &&
         message->ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_PARSE_H_
