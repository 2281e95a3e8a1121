// Estimates how much memory a message will take once it is parsed. An empty message takes two bytes
// in a payload and hundreds as an object, so a forged frame of a few compressed kilobytes could
// take gigabytes.
//
// Thread safety: a function only.
#ifndef UTLZ_COLLECTOR_DECODE_MESSAGE_MEMORY_H_
#define UTLZ_COLLECTOR_DECODE_MESSAGE_MEMORY_H_

#include <cstddef>
#include <string_view>

#include "google/protobuf/descriptor.h"

namespace utlz {

// Summaries that utlz wrote are estimated at four to five times their bytes, so that the largest
// one that fits a frame takes a sixth of this.
inline constexpr size_t kMaxMessageMemoryBytes = 512u << 20;

// Whether a payload of type `message` takes less than `most_bytes` by this estimate. True where the
// payload is no such message: parsing it fails without taking memory.
bool FitsInMemory(std::string_view payload, const google::protobuf::Descriptor& message,
                  size_t most_bytes = kMaxMessageMemoryBytes);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_MESSAGE_MEMORY_H_
