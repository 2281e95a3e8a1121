// How much memory a message takes once it is parsed. In a payload an empty message takes two bytes,
// as an object hundreds: a few kilobytes that another process compressed could take gigabytes.
//
// Thread safety: a function only.
#ifndef UTLZ_COLLECTOR_DECODE_MESSAGE_MEMORY_H_
#define UTLZ_COLLECTOR_DECODE_MESSAGE_MEMORY_H_

#include <cstddef>
#include <string_view>

#include "google/protobuf/descriptor.h"

namespace utlz {

// Of the largest messages that frames hold. A summary of 16 MiB that utlz wrote takes a fifth.
inline constexpr size_t kMaxMessageMemoryBytes = 512u << 20;

// Whether a payload of type `message` takes at most `most_bytes`, estimated without parsing it.
// True where the payload is no such message: parsing says so, and stops there.
bool FitsInMemory(std::string_view payload, const google::protobuf::Descriptor& message,
                  size_t most_bytes = kMaxMessageMemoryBytes);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_MESSAGE_MEMORY_H_
