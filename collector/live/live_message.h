// The form in which snapshots travel from a collector to who shows them: a header and a protobuf
// message. What comes is hostile until checked here; text is still to be escaped where it is shown.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_MESSAGE_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "proto/live.pb.h"

namespace utlz {

inline constexpr uint32_t kLiveMagic = 0x314c5455;          // "UTL1"
inline constexpr size_t kMaxLiveBytes = size_t{256} << 10;  // of a message without its header
inline constexpr int kMaxLiveDevices = 64;
inline constexpr int kMaxLiveProcesses = 128;
inline constexpr int kMaxLiveKernels = 128;
inline constexpr int kMaxLiveOwners = 128;  // layers, and as many lines
inline constexpr int kMaxLiveCauses = 32;
inline constexpr int kMaxLivePids = 8;            // of one kernel
inline constexpr size_t kMaxLiveTextBytes = 512;  // of any text in it

struct LiveHeader {
  uint32_t magic;  // kLiveMagic
  uint32_t bytes;  // of the message that follows
};

// Header and message; empty where that is larger than a reader would take.
std::string EncodeLive(const LiveSnapshot& snapshot);

// InvalidArgument where it is not what a collector sends: too much of something, a number that is
// no number or cannot be, a text too long.
absl::Status CheckLive(const LiveSnapshot& snapshot);

// Cuts what comes into messages. Not thread-safe.
class LiveStream {
 public:
  using Sink = std::function<void(LiveSnapshot snapshot)>;

  // Hands on what is whole by now, checked. An error: nothing more is to be read from there.
  absl::Status Push(std::string_view bytes, const Sink& sink);

 private:
  std::string buffer_;  // never more than one message and what came with its end
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_MESSAGE_H_
