// The sampler's end of a socket to a collector, or to another collector's sampler: frames go out,
// commands come in. Never blocks; what a slow reader does not take is kept up to a bound.
#ifndef UTLZ_COLLECTOR_SAMPLER_CHANNEL_FRAME_CHANNEL_H_
#define UTLZ_COLLECTOR_SAMPLER_CHANNEL_FRAME_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/sampler/channel/sampler_command.h"
#include "collector/unique_fd.h"
#include "google/protobuf/message_lite.h"

namespace utlz {

class FrameChannel {
 public:
  explicit FrameChannel(int fd, size_t most_pending_bytes = kMostPendingBytes);

  // Queues one frame. False if the queue is full: the frame was dropped.
  bool Send(uint16_t type, const google::protobuf::MessageLite& message);
  bool Send(uint16_t type, std::string_view payload);

  // To poll: for reading, and for writing too while something waits to be sent. -1 once closed.
  int fd() const { return fd_.get(); }
  bool pending() const { return !pending_.empty(); }

  // More waits to be sent than a collector that keeps up would leave: open no window now.
  bool congested() const { return pending_.size() > kCongestedBytes; }

  // Sends and receives what can be without waiting, after waiting at most `timeout_ms` for
  // anything to do. Returns the commands that came.
  std::vector<SamplerCommand> Exchange(int timeout_ms);

  // Sends what is queued, waiting at most `timeout_ms`.
  void Drain(int timeout_ms);

  void Close() { fd_.Reset(); }

  // False once the other end is gone, or sent what is no command.
  bool open() const { return fd_.valid(); }

 private:
  static constexpr size_t kCongestedBytes = size_t{8} << 20;
  static constexpr size_t kMostPendingBytes = size_t{48} << 20;

  void Flush();
  void Receive(std::vector<SamplerCommand>* commands);

  UniqueFd fd_;
  size_t most_pending_bytes_;
  std::string pending_;
  std::string received_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_CHANNEL_FRAME_CHANNEL_H_
