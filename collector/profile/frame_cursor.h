// Walks the frames of a file between two offsets, trusting none of its bytes.
#ifndef UTLZ_COLLECTOR_PROFILE_FRAME_CURSOR_H_
#define UTLZ_COLLECTOR_PROFILE_FRAME_CURSOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "collector/profile/frame_view.h"

namespace utlz {

class FrameCursor {
 public:
  // `fd` stays the caller's. Frames lie in [begin, end).
  FrameCursor(int fd, uint64_t begin, uint64_t end);

  // The next frame that checks, whatever its type, or false at the end.
  bool Next(FrameView* frame);

  // The next frame of one type. Others are checked as Next() does, but not decompressed, which is
  // most of the work. For cursors that are asked for nothing else.
  bool NextOfType(uint16_t type, FrameView* frame);

  // The frame at `offset`, if it checks. Moves the cursor behind it.
  bool At(uint64_t offset, FrameView* frame);

  uint64_t position() const { return position_; }
  uint64_t refused_frames() const { return refused_frames_; }
  uint64_t unreadable_bytes() const { return unreadable_bytes_; }

 private:
  enum class Check { kWhole, kWrong, kBeyondEnd };

  Check CheckAt(uint64_t offset, FrameView* frame, uint64_t* frame_bytes);
  // Moves to the next offset at which a frame checks, or to the end.
  void Resynchronize();
  // `bytes` bytes at `offset`, or nullptr where the file has become shorter.
  const char* Peek(uint64_t offset, uint64_t bytes);

  int fd_;
  uint64_t position_;
  uint64_t end_;
  std::string window_;
  uint64_t window_offset_ = 0;
  std::string decompressed_;
  std::optional<uint16_t> wanted_type_;  // nothing: all
  uint64_t refused_frames_ = 0;
  uint64_t unreadable_bytes_ = 0;
  uint64_t work_bytes_ = 0;  // read or hashed so far
  uint64_t expanded_bytes_ = 0;
  std::optional<uint64_t> resynchronization_limit_bytes_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_PROFILE_FRAME_CURSOR_H_
