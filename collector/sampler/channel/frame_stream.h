// Cuts a byte stream into frames (proto/frame.h). The bytes come from another process: sizes are
// bounded before memory is taken, and a frame whose checksum is wrong is refused.
#ifndef UTLZ_COLLECTOR_SAMPLER_CHANNEL_FRAME_STREAM_H_
#define UTLZ_COLLECTOR_SAMPLER_CHANNEL_FRAME_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace utlz {

// Appends a frame from `source` 0 around the payload.
void AppendFrame(uint16_t type, std::string_view payload, std::string* out);

class FrameStream {
 public:
  using Sink = std::function<void(uint16_t type, std::string_view payload)>;

  // Takes bytes as they come and hands every whole frame to `sink`. DataLoss: the stream is no
  // frame stream, or was damaged; nothing after that can be trusted.
  absl::Status Push(std::string_view bytes, const Sink& sink);

  uint64_t bytes() const { return bytes_; }
  // True between frames: a stream that ends elsewhere was cut short.
  bool at_boundary() const { return buffer_.empty(); }

 private:
  std::string buffer_;
  uint64_t bytes_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_CHANNEL_FRAME_STREAM_H_
