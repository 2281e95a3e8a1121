// Puts a profile's frames into another one: their times on its clock, their processes and metric
// sets under its numbers.
#ifndef UTLZ_TOOLS_MERGE_FRAME_SHIFT_H_
#define UTLZ_TOOLS_MERGE_FRAME_SHIFT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace utlz {

struct FrameShift {
  int64_t earlier_ns = 0;          // what is taken off every time
  uint32_t metric_set_offset = 0;  // what is added to identifiers of metric sets
};

// Rewrites `payload` (a message of `type`, FrameType) into `out` and finds its time, zero where it
// has none. False where it does not parse or is of no known type: such a frame cannot be carried
// over, since its times would be wrong. Times that would pass zero stay at zero. Pure.
bool ShiftFrame(uint16_t type, std::string_view payload, const FrameShift& shift, std::string* out,
                uint64_t* time_ns);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_FRAME_SHIFT_H_
