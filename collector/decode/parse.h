// Parsing of untrusted payloads within bounds.
#ifndef UTLZ_COLLECTOR_DECODE_PARSE_H_
#define UTLZ_COLLECTOR_DECODE_PARSE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/decode/message_memory.h"

namespace utlz {

// Columnar frames may be as large as a frame can be; the others describe, and are small. What is
// kept of every process or device is smaller yet: an agent sends less than half of this.
inline constexpr size_t kMaxDescriptionBytes = 4u << 20;
inline constexpr size_t kMaxKeptBytes = 64u << 10;

// False where the payload is too large or no such message.
template <typename Message>
bool Parse(std::string_view payload, Message* message,
           size_t maximum_bytes = kMaxDescriptionBytes) {
  return payload.size() <= maximum_bytes &&
         message->ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

// Parses a message that may be as large as a frame and hold any number of messages. False where the
// payload is no such message, or would take more than kMaxMessageMemoryBytes once parsed.
template <typename Message>
bool ParseWithinMemory(std::string_view payload, Message* message) {
  return FitsInMemory(payload, *Message::descriptor()) &&
         message->ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_PARSE_H_
