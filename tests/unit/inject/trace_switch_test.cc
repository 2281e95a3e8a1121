#include "inject/trace_switch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz::inject {
namespace {

uint64_t cupti_now_ns = 0;
std::set<uint32_t> kinds_on;
std::set<uint32_t> driver_calls_on;
std::set<uint32_t> runtime_calls_on;

void Switch(std::set<uint32_t>* on, uint32_t what, bool enable) {
  if (enable) {
    on->insert(what);
  } else {
    on->erase(what);
  }
}

CuptiApi StandIn() {
  CuptiApi api{};
  api.get_timestamp = [](uint64_t* now_ns) {
    *now_ns = cupti_now_ns;
    return cupti::kSuccess;
  };
  api.activity_enable = [](uint32_t kind) {
    kinds_on.insert(kind);
    return cupti::kSuccess;
  };
  api.activity_disable = [](uint32_t kind) {
    kinds_on.erase(kind);
    return cupti::kSuccess;
  };
  api.activity_enable_driver_api = [](uint32_t call, uint8_t enable) {
    Switch(&driver_calls_on, call, enable != 0);
    return cupti::kSuccess;
  };
  api.activity_enable_runtime_api = [](uint32_t call, uint8_t enable) {
    Switch(&runtime_calls_on, call, enable != 0);
    return cupti::kSuccess;
  };
  return api;
}

class TraceSwitchTest : public testing::Test {
 protected:
  TraceSwitchTest() : cupti_(StandIn()) {
    file_ = ring_.Create(kRingMinDataBytes);
    EXPECT_TRUE(recorder_.Create(&ring_, &cupti_, false));
    trace_.Create(&cupti_, &recorder_);
    kinds_on = driver_calls_on = runtime_calls_on = {};
    cupti_now_ns = 1000;
  }
  ~TraceSwitchTest() override {
    munmap(ring_.header(), kRingHeaderBytes + kRingMinDataBytes);
    close(file_);
  }

  // The windows that were told since the last call.
  std::vector<TraceWindow> Windows() {
    std::vector<TraceWindow> windows;
    const auto* data = reinterpret_cast<const uint8_t*>(ring_.header()) + kRingHeaderBytes;
    while (position_ < ring_.header()->producer.write_position.load()) {
      FrameHeader frame;
      std::memcpy(&frame, data + position_, sizeof frame);
      TraceWindow window;
      EXPECT_EQ(frame.type, FRAME_TRACE_WINDOW);
      EXPECT_TRUE(window.ParseFromArray(data + position_ + sizeof frame,
                                        static_cast<int>(frame.payload_bytes)));
      windows.push_back(window);
      position_ += FrameBytes(frame.payload_bytes);
    }
    return windows;
  }

  CuptiApi cupti_;
  RingWriter ring_;
  Recorder recorder_;
  TraceSwitch trace_;
  int file_ = -1;
  uint64_t position_ = 0;
};

TEST_F(TraceSwitchTest, AWindowThatIsLostEndedWhenRecordsWereLastHandedOver) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  cupti_now_ns = 9000;
  trace_.Lost("taken", 4000);
  cupti_now_ns = 20'000;
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  const std::vector<TraceWindow> windows = Windows();
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[0].start_ns(), 1000u);
  EXPECT_EQ(windows[0].end_ns(), 0u);
  EXPECT_EQ(windows[1].end_ns(), 4000u) << "what came later may be in the other's hands";
  EXPECT_EQ(windows[2].start_ns(), 20'000u);
  EXPECT_EQ(windows[2].gap_reason(), "taken");
}

TEST_F(TraceSwitchTest, AWindowWithoutAHandOverIsEmpty) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Lost("taken", 0);
  EXPECT_EQ(Windows().back().end_ns(), 1000u);
}

TEST_F(TraceSwitchTest, AGapEndsWithTheProcessWithoutACallOfCupti) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Lost("taken", 4000);
  cupti_.get_timestamp = nullptr;
  trace_.EndGap();
  const std::vector<TraceWindow> windows = Windows();
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_GT(windows[2].start_ns(), 4000u);
  EXPECT_EQ(windows[2].end_ns(), windows[2].start_ns());
  EXPECT_EQ(windows[2].gap_reason(), "taken");
  trace_.EndGap();
  EXPECT_TRUE(Windows().empty());
}

TEST_F(TraceSwitchTest, WhatNobodyWantedIsNoGap) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  trace_.Off(nullptr);
  Windows();
  trace_.EndGap();
  EXPECT_TRUE(Windows().empty());
}

TEST_F(TraceSwitchTest, LaunchCallsAreRecordedWhereAskedFor) {
  ASSERT_EQ(trace_.On(kTraceKernels), cupti::kSuccess);
  EXPECT_TRUE(driver_calls_on.empty());
  trace_.Off(nullptr);
  ASSERT_EQ(trace_.On(kTraceKernels | kTraceMarkers | kTraceLaunchCalls), cupti::kSuccess);
  EXPECT_TRUE(driver_calls_on.contains(307)) << "cuLaunchKernel";
  EXPECT_TRUE(runtime_calls_on.contains(211)) << "cudaLaunchKernel";
  EXPECT_FALSE(kinds_on.contains(cupti::kKindDriver)) << "never all calls";
  trace_.Off(nullptr);
  EXPECT_TRUE(driver_calls_on.empty());
  EXPECT_TRUE(runtime_calls_on.empty());
  EXPECT_TRUE(kinds_on.empty());
}

TEST_F(TraceSwitchTest, AnOlderCuptiThatCannotChooseCallsIsLeftAlone) {
  cupti_.activity_enable_driver_api = nullptr;
  EXPECT_EQ(trace_.On(kTraceKernels | kTraceLaunchCalls), cupti::kSuccess);
  EXPECT_TRUE(runtime_calls_on.empty());
}

}  // namespace
}  // namespace utlz::inject
