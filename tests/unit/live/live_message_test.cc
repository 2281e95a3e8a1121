#include "collector/live/live_message.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace utlz {
namespace {

LiveSnapshot Snapshot(int kernels = 1) {
  LiveSnapshot snapshot;
  snapshot.set_time_ns(5);
  snapshot.set_step_seconds(0.03);
  snapshot.add_devices()->set_hfu(0.4);
  snapshot.add_processes()->set_pid(7);
  for (int i = 0; i < kernels; ++i) snapshot.add_kernels()->set_name("gemm");
  return snapshot;
}

std::vector<LiveSnapshot> Read(LiveStream* stream, std::string_view bytes, bool* ok) {
  std::vector<LiveSnapshot> read;
  *ok = stream->Push(bytes, [&](LiveSnapshot one) { read.push_back(std::move(one)); }).ok();
  return read;
}

TEST(LiveMessage, ComesThroughInOnePieceAndByteByByte) {
  const std::string bytes = EncodeLive(Snapshot()) + EncodeLive(Snapshot(3));
  bool ok = false;
  LiveStream whole;
  const auto read = Read(&whole, bytes, &ok);
  ASSERT_TRUE(ok);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].kernels_size(), 3);
  LiveStream bytewise;
  size_t count = 0;
  for (const char byte : bytes) {
    count += Read(&bytewise, std::string_view(&byte, 1), &ok).size();
    ASSERT_TRUE(ok);
  }
  EXPECT_EQ(count, 2u);
}

TEST(LiveMessage, AForeignHeaderOrALargeSizeEndsIt) {
  for (const LiveHeader header :
       {LiveHeader{1, 4}, LiveHeader{kLiveMagic, static_cast<uint32_t>(kMaxLiveBytes) + 1}}) {
    LiveStream stream;
    bool ok = true;
    Read(&stream, std::string_view(reinterpret_cast<const char*>(&header), sizeof(header)), &ok);
    EXPECT_FALSE(ok);
  }
}

TEST(LiveMessage, WhatIsNoMessageEndsIt) {
  std::string bytes = EncodeLive(Snapshot());
  bytes.back() = '\xff';
  bytes[sizeof(LiveHeader)] = '\xff';
  LiveStream stream;
  bool ok = true;
  Read(&stream, bytes, &ok);
  EXPECT_FALSE(ok);
}

TEST(LiveMessage, RefusesWhatCannotBe) {
  EXPECT_TRUE(CheckLive(Snapshot()).ok());
  LiveSnapshot snapshot = Snapshot();
  snapshot.mutable_devices(0)->set_hfu(3);
  EXPECT_FALSE(CheckLive(snapshot).ok());
  snapshot.mutable_devices(0)->set_hfu(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(CheckLive(snapshot).ok());
  snapshot = Snapshot();
  snapshot.set_step_seconds(-1);
  EXPECT_FALSE(CheckLive(snapshot).ok());
  snapshot = Snapshot();
  snapshot.mutable_kernels(0)->set_name(std::string(kMaxLiveTextBytes + 1, 'k'));
  EXPECT_FALSE(CheckLive(snapshot).ok());
  EXPECT_FALSE(CheckLive(Snapshot(kMaxLiveKernels + 1)).ok());
  const auto refused_owner = [](auto change) {
    for (auto add : {&LiveSnapshot::add_layers, &LiveSnapshot::add_lines}) {
      LiveSnapshot with_owner = Snapshot();
      change((with_owner.*add)());
      if (CheckLive(with_owner).ok()) return false;
    }
    return true;
  };
  EXPECT_FALSE(refused_owner([](LiveOwner* owner) { owner->set_name("mlp"); }));
  EXPECT_TRUE(refused_owner(
      [](LiveOwner* owner) { owner->set_name(std::string(kMaxLiveTextBytes + 1, 'l')); }));
  EXPECT_TRUE(refused_owner(
      [](LiveOwner* owner) { owner->set_module_class(std::string(kMaxLiveTextBytes + 1, 'l')); }));
  EXPECT_TRUE(refused_owner([](LiveOwner* owner) { owner->set_time_share(3); }));
  EXPECT_TRUE(refused_owner([](LiveOwner* owner) { owner->set_flops_per_second(-1); }));
  snapshot = Snapshot();
  for (int i = 0; i <= kMaxLiveOwners; ++i) snapshot.add_lines();
  EXPECT_FALSE(CheckLive(snapshot).ok());
  snapshot = Snapshot();
  for (int i = 0; i <= kMaxLivePids; ++i) snapshot.mutable_kernels(0)->add_pids(1);
  EXPECT_FALSE(CheckLive(snapshot).ok());
}

TEST(LiveMessage, WhatNoReaderWouldTakeIsNotSent) {
  LiveSnapshot snapshot;
  snapshot.set_command(std::string(kMaxLiveBytes, 'c'));
  EXPECT_TRUE(EncodeLive(snapshot).empty());
}

}  // namespace
}  // namespace utlz
