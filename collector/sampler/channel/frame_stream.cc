#include "collector/sampler/channel/frame_stream.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/frame.h"

namespace utlz {

void AppendFrame(uint16_t type, std::string_view payload, std::string* out) {
  FrameHeader header{};
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.type = type;
  header.checksum = FrameChecksum(header, payload.data());
  const size_t padding = FrameBytes(header.payload_bytes) - sizeof(header) - payload.size();
  out->append(reinterpret_cast<const char*>(&header), sizeof(header));
  out->append(payload);
  out->append(padding, '\0');
}

absl::Status FrameStream::Push(std::string_view bytes, const Sink& sink) {
  bytes_ += bytes.size();
  buffer_.append(bytes);
  size_t position = 0;
  absl::Status status;
  while (buffer_.size() - position >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, buffer_.data() + position, sizeof(header));
    if (header.payload_bytes > kMaxFramePayloadBytes || header.flags != 0) {
      status = absl::DataLossError(
          absl::StrCat("the sampler sent no frame: ", header.payload_bytes, " bytes of payload"));
      break;
    }
    const uint64_t frame_bytes = FrameBytes(header.payload_bytes);
    if (buffer_.size() - position < frame_bytes) break;
    const char* payload = buffer_.data() + position + sizeof(header);
    if (FrameChecksum(header, payload) != header.checksum) {
      status = absl::DataLossError("the sampler sent a frame whose checksum is wrong");
      break;
    }
    position += frame_bytes;
    sink(header.type, std::string_view(payload, header.payload_bytes));
  }
  buffer_.erase(0, position);
  return status;
}

}  // namespace utlz
