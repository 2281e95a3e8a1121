// One frame of a profile, as its readers show it. The payload is still an untrusted message.
#ifndef UTLZ_COLLECTOR_PROFILE_FRAME_VIEW_H_
#define UTLZ_COLLECTOR_PROFILE_FRAME_VIEW_H_

#include <cstdint>
#include <string_view>

namespace utlz {

struct FrameView {
  uint32_t source = 0;       // index of the process that it came from; 0 = the collector
  uint16_t type = 0;         // FrameType, known or not
  uint64_t offset = 0;       // of the frame in the file
  std::string_view payload;  // decompressed; valid until the reader's next call
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_PROFILE_FRAME_VIEW_H_
