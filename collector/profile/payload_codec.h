// Compression of single payloads inside a profile (kFrameCompressed).
#ifndef UTLZ_COLLECTOR_PROFILE_PAYLOAD_CODEC_H_
#define UTLZ_COLLECTOR_PROFILE_PAYLOAD_CODEC_H_

#include <memory>
#include <string>
#include <string_view>

namespace utlz {

class PayloadCompressor {
 public:
  PayloadCompressor();
  ~PayloadCompressor();

  // True and `out` set where compression is worth it: above 4 KiB, and a tenth or more saved.
  bool Compress(std::string_view payload, std::string* out);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// False where the bytes are no zstd frame that announces a size up to kMaxFramePayloadBytes and
// holds exactly that many bytes. Takes no more memory than that.
bool DecompressPayload(std::string_view payload, std::string* out);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_PROFILE_PAYLOAD_CODEC_H_
