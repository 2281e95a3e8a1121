#include "collector/sampler/sharing/counter_subscription.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "collector/sampler/sharing/sampler_socket.h"

namespace utlz {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr int kMostReads = 64;  // in one call, so that everything else goes on

}  // namespace

absl::StatusOr<std::unique_ptr<CounterSubscription>> CounterSubscription::Begin(
    const std::string& uuid, SubscriberKind kind) {
  absl::StatusOr<UniqueFd> connection = ConnectToSampler(uuid);
  if (!connection.ok()) return connection.status();
  std::unique_ptr<CounterSubscription> subscription(
      new CounterSubscription(uuid, *std::move(connection)));
  subscription->Send(kSamplerSubscribe,
                     uint64_t{static_cast<uint32_t>(kind)} << 32 | kSamplerShareVersion);
  return subscription;
}

absl::Status CounterSubscription::Read(const FrameStream::Sink& sink) {
  std::vector<char> bytes(kReadBytes);
  for (int i = 0; i < kMostReads; ++i) {
    const ssize_t count = recv(connection_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return absl::OkStatus();
    if (count <= 0) return absl::UnavailableError("the sampler that shared its counters is gone");
    const std::string_view said(bytes.data(), static_cast<size_t>(count));
    if (absl::Status status = stream_.Push(said, sink); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void CounterSubscription::Send(SamplerCommandKind kind, uint64_t argument) {
  SamplerCommand command{};
  command.magic = kSamplerCommandMagic;
  command.kind = kind;
  command.argument = argument;
  std::copy(uuid_.begin(), uuid_.end(), std::begin(command.uuid));
  // Far smaller than the socket's buffer: taken whole or not at all.
  (void)send(connection_.get(), &command, sizeof(command), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace utlz
