// A share in what another collector's sampler counts on one GPU: its frames come here, commands go
// there. Frames are cut and checked as those of any other process; what they say is trusted as
// far as its user is (sampler_socket.h).
#ifndef UTLZ_COLLECTOR_SAMPLER_SHARING_COUNTER_SUBSCRIPTION_H_
#define UTLZ_COLLECTOR_SAMPLER_SHARING_COUNTER_SUBSCRIPTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/sampler/channel/frame_stream.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/unique_fd.h"

namespace utlz {

// Not thread-safe.
class CounterSubscription {
 public:
  // Unavailable: no sampler that can be shared. Never waits.
  static absl::StatusOr<std::unique_ptr<CounterSubscription>> Begin(const std::string& uuid,
                                                                    SubscriberKind kind);

  int fd() const { return connection_.get(); }

  // Hands on every whole frame that is there now; never waits. Unavailable: it is over.
  absl::Status Read(const FrameStream::Sink& sink);

  // One that cannot be sent is lost: whoever does not read commands will be gone soon.
  void Send(SamplerCommandKind kind, uint64_t argument = 0);

 private:
  CounterSubscription(std::string uuid, UniqueFd connection)
      : uuid_(std::move(uuid)), connection_(std::move(connection)) {}

  const std::string uuid_;
  UniqueFd connection_;
  FrameStream stream_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SHARING_COUNTER_SUBSCRIPTION_H_
