// What comes over a sampler's sockets: the frames that its collector reads, however they are cut,
// and the commands that it hears from a collector and from the samplers of others.
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/sampler/channel/frame_stream.h"
#include "collector/sampler/sampler_subscribers.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

using Frames = std::vector<std::pair<uint16_t, std::string>>;

Frames Read(std::string_view stream, size_t piece) {
  FrameStream frames;
  Frames read;
  while (!stream.empty()) {
    const std::string_view bytes = stream.substr(0, piece);
    stream.remove_prefix(bytes.size());
    const absl::Status status = frames.Push(
        bytes, [&](uint16_t type, std::string_view payload) { read.emplace_back(type, payload); });
    if (!status.ok()) break;
  }
  return read;
}

// Frames do not depend on how they come in.
void CheckFrames(const std::string& bytes) {
  std::string stream;
  AppendFrame(FRAME_SAMPLES, bytes, &stream);
  stream += bytes;
  const Frames whole = Read(stream, stream.size());
  if (whole.empty() || whole[0].second != bytes) std::abort();
  if (Read(stream, 7) != whole) std::abort();
}

void Connect(UniqueFd* inside, UniqueFd* outside) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) std::abort();
  inside->Reset(sockets[0]);
  outside->Reset(sockets[1]);
}

void Say(const UniqueFd& socket, std::string_view bytes) {
  send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// The same as commands, each of which begins as one has to.
std::string AsCommands(std::string bytes) {
  for (size_t at = 0; at + sizeof(SamplerCommand) <= bytes.size(); at += sizeof(SamplerCommand)) {
    std::memcpy(bytes.data() + at, &kSamplerCommandMagic, sizeof(kSamplerCommandMagic));
  }
  return bytes;
}

void CheckCommands(const std::string& bytes) {
  const std::string uuid(16, 'u');
  UniqueFd own, own_outside;
  Connect(&own, &own_outside);
  SamplerSubscribers subscribers(std::make_unique<FrameChannel>(own.Release()),
                                 SubscriberKind::kPlanned);
  std::vector<UniqueFd> outside(3);
  uint64_t now_ns = 1'000'000'000;
  for (UniqueFd& end : outside) {
    UniqueFd inside;
    Connect(&inside, &end);
    subscribers.Add(now_ns, std::move(inside), uuid);
  }
  SamplerCommand subscribe{.magic = kSamplerCommandMagic,
                           .kind = kSamplerSubscribe,
                           .argument = uint64_t{1} << 32 | kSamplerShareVersion,
                           .uuid = {}};
  std::fill(std::begin(subscribe.uuid), std::end(subscribe.uuid), 'u');
  Say(outside[0], bytes);
  Say(outside[1], AsCommands(bytes));
  Say(outside[2], std::string(reinterpret_cast<const char*>(&subscribe), sizeof(subscribe)));
  Say(outside[2], AsCommands(bytes));
  Say(own_outside, AsCommands(bytes));
  size_t heard = 0;
  for (int turn = 0; turn < 8; ++turn, now_ns += 100'000'000) {
    subscribers.Exchange(
        now_ns,
        [&](SamplerSubscribers::Listener* listener, const SamplerCommand& command) {
          ++heard;
          if (command.kind == kSamplerYield) listener->yield_until_ns = command.argument;
        },
        [](SamplerSubscribers::Listener*) {});
    subscribers.Send(uuid, FRAME_SAMPLER_READY, SamplerReady());
  }
  if (heard > 4 * bytes.size() / sizeof(SamplerCommand)) std::abort();
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  utlz::CheckFrames(bytes);
  utlz::CheckCommands(bytes);
  return 0;
}
