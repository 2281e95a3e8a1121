// Handing descriptors to another process over a Unix socket.
#ifndef UTLZ_TOOLS_ATTACH_SEND_DESCRIPTORS_H_
#define UTLZ_TOOLS_ATTACH_SEND_DESCRIPTORS_H_

#include <cstdint>

#include "absl/types/span.h"

namespace utlz::attach {

// Sends the bytes (at least one) with copies of the descriptors, without waiting. False, with errno
// set, where that was not possible whole.
bool SendDescriptors(int socket, absl::Span<const uint8_t> bytes,
                     absl::Span<const int> descriptors);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_SEND_DESCRIPTORS_H_
