// The other end of a sampler's socket: what a collector, or another sampler, says and hears there.
#ifndef UTLZ_TESTS_UNIT_SAMPLER_SAMPLER_ENDS_H_
#define UTLZ_TESTS_UNIT_SAMPLER_SAMPLER_ENDS_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "collector/sampler/channel/frame_stream.h"
#include "collector/sampler/channel/sampler_command.h"
#include "proto/profile.pb.h"
#include "proto/sampler.pb.h"

namespace utlz {

inline void Command(int fd, SamplerCommandKind kind, const std::string& uuid,
                    uint64_t argument = 0) {
  SamplerCommand command{};
  command.magic = kSamplerCommandMagic;
  command.kind = kind;
  command.argument = argument;
  std::memcpy(command.uuid, uuid.data(), sizeof(command.uuid));
  ASSERT_EQ(send(fd, &command, sizeof(command), MSG_NOSIGNAL), ssize_t{sizeof(command)});
}

struct Heard {
  void Read(int fd) {
    std::vector<char> bytes(1 << 16);
    while (!ended) {
      const ssize_t count = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count < 0) return;
      ended = count == 0;
      const std::string_view text(bytes.data(), static_cast<size_t>(count));
      const absl::Status status = stream.Push(
          text, [this](uint16_t type, std::string_view payload) { Take(type, payload); });
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  void Take(uint16_t type, std::string_view payload) {
    const auto parse = [&](auto* list) {
      ASSERT_TRUE(
          list->emplace_back().ParseFromArray(payload.data(), static_cast<int>(payload.size())));
    };
    if (type == FRAME_SAMPLES) parse(&batches);
    if (type == FRAME_METRIC_SET) parse(&sets);
    if (type == FRAME_SAMPLER_STATUS) parse(&statuses);
    if (type == FRAME_SAMPLER_READY) parse(&ready);
    if (type == FRAME_SAMPLER_WINDOW) parse(&windows);
    if (type == FRAME_DEVICE_PEAKS) parse(&peaks);
    if (type == FRAME_DEVICE_TOTALS) parse(&totals);
    detached = detached || type == FRAME_SAMPLER_DETACHED;
  }

  FrameStream stream;
  bool ended = false;
  bool detached = false;
  std::vector<SampleBatch> batches;
  std::vector<MetricSet> sets;
  std::vector<SamplerStatus> statuses;
  std::vector<SamplerReady> ready;
  std::vector<SamplerWindow> windows;
  std::vector<DevicePeaks> peaks;
  std::vector<DeviceTotalsBatch> totals;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SAMPLER_SAMPLER_ENDS_H_
