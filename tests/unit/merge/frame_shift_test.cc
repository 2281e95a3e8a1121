#include "tools/merge/frame_shift.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "proto/profile.pb.h"

namespace utlz {
namespace {

template <typename Message>
Message Shifted(FrameType type, const Message& message, const FrameShift& shift,
                uint64_t* time_ns) {
  std::string out;
  EXPECT_TRUE(
      ShiftFrame(static_cast<uint16_t>(type), message.SerializeAsString(), shift, &out, time_ns));
  Message moved;
  EXPECT_TRUE(moved.ParseFromString(out));
  return moved;
}

TEST(FrameShiftTest, MovesTimesAndNothingElse) {
  LaunchBatch batch;
  batch.set_base_ns(1'000'000);
  batch.add_gap_residual(-5);
  batch.add_duration_residual(70);
  uint64_t time_ns = 0;
  const LaunchBatch moved = Shifted(FRAME_LAUNCHES, batch, {.earlier_ns = 300}, &time_ns);
  EXPECT_EQ(moved.base_ns(), 999'700u);
  EXPECT_EQ(time_ns, 999'700u);
  EXPECT_EQ(moved.gap_residual(0), -5);
  EXPECT_EQ(moved.duration_residual(0), 70);
}

TEST(FrameShiftTest, ATimeThatIsNotKnownStaysSo) {
  TraceWindow window;
  window.set_start_ns(5000);
  window.set_end_ns(0);
  uint64_t time_ns = 0;
  const TraceWindow moved = Shifted(FRAME_TRACE_WINDOW, window, {.earlier_ns = -1000}, &time_ns);
  EXPECT_EQ(moved.start_ns(), 6000u);
  EXPECT_EQ(moved.end_ns(), 0u) << "still open";
}

TEST(FrameShiftTest, GivesMetricSetsAndTheirSamplesNewNumbers) {
  MetricSet set;
  set.set_id(5);
  SampleBatch samples;
  samples.set_metric_set(5);
  samples.set_base_ns(100);
  const FrameShift shift = {.earlier_ns = 10, .metric_set_offset = 65536};
  uint64_t time_ns = 0;
  EXPECT_EQ(Shifted(FRAME_METRIC_SET, set, shift, &time_ns).id(), 65541u);
  const SampleBatch moved = Shifted(FRAME_SAMPLES, samples, shift, &time_ns);
  EXPECT_EQ(moved.metric_set(), 65541u);
  EXPECT_EQ(moved.base_ns(), 90u);
}

// Numbers of stacks are a process's own, as those of strings are.
TEST(FrameShiftTest, LeavesStacksAsTheyAre) {
  Stacks stacks;
  stacks.set_first(3);
  stacks.add_parent(2);
  stacks.add_line(88);
  uint64_t time_ns = 0;
  const Stacks moved = Shifted(FRAME_STACKS, stacks, {.earlier_ns = 300}, &time_ns);
  EXPECT_EQ(moved.SerializeAsString(), stacks.SerializeAsString());
  EXPECT_EQ(time_ns, 0u);
}

TEST(FrameShiftTest, RefusesWhatItDoesNotKnow) {
  std::string out;
  uint64_t time_ns = 0;
  EXPECT_FALSE(ShiftFrame(FRAME_LAUNCHES, "no message", {}, &out, &time_ns));
  EXPECT_FALSE(ShiftFrame(30, "", {}, &out, &time_ns));
}

// A new frame must be taught to the merge, or its times would be dropped without a word.
TEST(FrameShiftTest, KnowsEveryFrameOfAgentsAndSamplers) {
  const google::protobuf::EnumDescriptor* types = FrameType_descriptor();
  for (int i = 0; i < types->value_count(); ++i) {
    const int type = types->value(i)->number();
    const bool of_run = type >= FRAME_RUN_START && type != FRAME_DEVICE_CEILINGS;
    if (type == FRAME_PADDING || of_run) continue;
    std::string out;
    uint64_t time_ns = 0;
    EXPECT_TRUE(ShiftFrame(static_cast<uint16_t>(type), "", {}, &out, &time_ns))
        << types->value(i)->name();
  }
}

}  // namespace
}  // namespace utlz
