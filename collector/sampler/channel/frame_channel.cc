#include "collector/sampler/channel/frame_channel.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include "collector/clocks.h"
#include "collector/sampler/channel/frame_stream.h"
#include "proto/frame.h"

namespace utlz {

FrameChannel::FrameChannel(int fd, size_t most_pending_bytes)
    : fd_(fd), most_pending_bytes_(most_pending_bytes) {}

bool FrameChannel::Send(uint16_t type, const google::protobuf::MessageLite& message) {
  return Send(type, message.SerializeAsString());
}

bool FrameChannel::Send(uint16_t type, std::string_view payload) {
  if (!open() || payload.size() > kMaxFramePayloadBytes ||
      pending_.size() + payload.size() > most_pending_bytes_) {
    return false;
  }
  AppendFrame(type, payload, &pending_);
  return true;
}

std::vector<SamplerCommand> FrameChannel::Exchange(int timeout_ms) {
  std::vector<SamplerCommand> commands;
  Flush();
  pollfd entry{fd_.get(), static_cast<short>(POLLIN | (pending_.empty() ? 0 : POLLOUT)), 0};
  if (!open() || poll(&entry, 1, timeout_ms) <= 0) return commands;
  if ((entry.revents & POLLOUT) != 0) Flush();
  if ((entry.revents & (POLLIN | POLLHUP | POLLERR)) != 0) Receive(&commands);
  return commands;
}

void FrameChannel::Drain(int timeout_ms) {
  const uint64_t deadline_ns = MonotonicNs() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  Flush();
  while (open() && !pending_.empty() && MonotonicNs() < deadline_ns) {
    pollfd entry{fd_.get(), POLLOUT, 0};
    poll(&entry, 1, timeout_ms);
    Flush();
  }
}

void FrameChannel::Flush() {
  size_t sent = 0;
  while (open() && sent < pending_.size()) {
    const ssize_t count = send(fd_.get(), pending_.data() + sent, pending_.size() - sent,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      fd_.Reset();
    }
  }
  pending_.erase(0, sent);
}

void FrameChannel::Receive(std::vector<SamplerCommand>* commands) {
  char bytes[1024];
  const ssize_t count = recv(fd_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
    fd_.Reset();
    return;
  }
  if (count > 0) received_.append(bytes, static_cast<size_t>(count));
  size_t position = 0;
  for (; received_.size() - position >= sizeof(SamplerCommand);
       position += sizeof(SamplerCommand)) {
    SamplerCommand command;
    std::memcpy(&command, received_.data() + position, sizeof(command));
    if (command.magic != kSamplerCommandMagic) {
      fd_.Reset();
      return;
    }
    commands->push_back(command);
  }
  received_.erase(0, position);
}

}  // namespace utlz
