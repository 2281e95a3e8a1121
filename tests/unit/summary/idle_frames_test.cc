// What launching threads were in while the GPU stood idle: samples of stacks, put on gaps.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_stacks.h"

namespace utlz {
namespace {

constexpr uint64_t kGapNs = 4 * kMillisecond;

class IdleFramesTest : public ::testing::Test {
 protected:
  IdleFramesTest() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"gemm"});
    main_ = stacks_.Function(0, "main", "/home/me/train.py", 88);
    loads_ = stacks_.Function(main_, "Pictures.__getitem__", "/home/me/data.py", 41);
    resizes_ = stacks_.Function(loads_, "Image.resize", "/x/site-packages/PIL/Image.py", 2193);
    waits_ = stacks_.Function(main_, "Queue.get", "/usr/lib/python3.11/queue.py", 171);
    stacks_.SendTo(&run_);
  }

  // After the first kernel, in thousandths of the gap.
  void SampleAt(const std::vector<std::pair<uint64_t, uint32_t>>& samples) {
    ThreadStackBatch batch;
    batch.set_base_ns(kRunStartNs + 100);
    uint64_t before = 0;
    for (const auto& [thousandth, stack] : samples) {
      batch.add_time_delta_ns(static_cast<int64_t>(thousandth - before) *
                              static_cast<int64_t>(kGapNs / 1000));
      batch.add_stack(stack);
      before = thousandth;
    }
    run_.Send(1, FRAME_THREAD_STACKS, batch);
  }

  // Two kernels with a gap between them; the row of the line that launches both.
  OwnerSummary RowOfMain(uint64_t gap_ns = kGapNs) {
    Launch first = RunBuilder::LaunchAt(0, 100, 0);
    Launch second = RunBuilder::LaunchAt(100 + gap_ns, 100, 0);
    first.stack = second.stack = main_;
    run_.SendLaunches({first, second});
    const Summary summary = run_.EndRun(10 * kMillisecond);
    for (const OwnerSummary& row : summary.owners().lines()) {
      if (row.name() == "train.py:88 main") return row;
    }
    ADD_FAILURE() << "no row";
    return {};
  }

  RunBuilder run_;
  MadeUpStacks stacks_{2};  // after the kernel's name
  uint32_t main_ = 0, loads_ = 0, resizes_ = 0, waits_ = 0;
};

TEST_F(IdleFramesTest, DividesAGapAmongItsSamples) {
  SampleAt({{100, resizes_}, {300, resizes_}, {500, waits_}, {700, loads_}, {900, resizes_}});
  const OwnerSummary row = RowOfMain();
  EXPECT_NEAR(row.sampled_idle_ns(), kGapNs, 1);
  ASSERT_EQ(row.idle_frames_size(), 3);
  // The program's own line, and in parentheses the library that it called.
  EXPECT_EQ(row.idle_frames(0), "data.py:41 Pictures.__getitem__ (Image.py:2193 Image.resize)");
  EXPECT_NEAR(row.idle_frame_ns(0), 0.6 * kGapNs, 1);
  EXPECT_EQ(row.idle_frames(1), "data.py:41 Pictures.__getitem__");
  EXPECT_EQ(row.idle_frames(2), "train.py:88 main (queue.py:171 Queue.get)");
  EXPECT_NEAR(row.idle_frame_ns(2), 0.2 * kGapNs, 1);
}

TEST_F(IdleFramesTest, LeavesOutWhatIsBesideTheGap) {
  SampleAt({{0, waits_}, {999, loads_}, {1000, waits_}, {1500, waits_}});
  const OwnerSummary row = RowOfMain();
  // The first one is when the gap begins.
  ASSERT_EQ(row.idle_frames_size(), 2);
  EXPECT_NEAR(row.idle_frame_ns(0) + row.idle_frame_ns(1), kGapNs, 1);
}

TEST_F(IdleFramesTest, SaysNothingOfGapsThatNoSampleFellInto) {
  SampleAt({{1500, waits_}});
  const OwnerSummary row = RowOfMain();
  EXPECT_FALSE(row.has_sampled_idle_ns());
  EXPECT_EQ(row.idle_frames_size(), 0);
  EXPECT_NEAR(row.own_idle_before_ns(), kGapNs, 1);
}

// Of two processes on one GPU each waits for lines of its own.
TEST_F(IdleFramesTest, LeavesOutThreadsOfAnotherProcess) {
  run_.StartProcess(2);
  ThreadStackBatch batch;
  batch.set_base_ns(kRunStartNs + 100 + kGapNs / 2);
  batch.add_time_delta_ns(0);
  batch.add_stack(waits_);
  stacks_.SendTo(&run_, 2);
  run_.Send(2, FRAME_THREAD_STACKS, batch);
  SampleAt({{100, loads_}});
  const OwnerSummary row = RowOfMain();
  ASSERT_EQ(row.idle_frames_size(), 1);
  EXPECT_EQ(row.idle_frames(0), "data.py:41 Pictures.__getitem__");
}

TEST_F(IdleFramesTest, SaysNothingOfShortGaps) {
  SampleAt({{10, waits_}});
  EXPECT_FALSE(RowOfMain(kMillisecond / 2).has_sampled_idle_ns());
}

TEST_F(IdleFramesTest, RefusesColumnsThatDoNotAgree) {
  ThreadStackBatch batch;
  batch.set_base_ns(kRunStartNs + 200);
  batch.add_time_delta_ns(0);
  batch.add_time_delta_ns(0);
  batch.add_stack(main_);
  run_.Send(1, FRAME_THREAD_STACKS, batch);
  EXPECT_FALSE(RowOfMain().has_sampled_idle_ns());
}

TEST_F(IdleFramesTest, LeavesOutStacksThatAreNotKnown) {
  SampleAt({{100, 0}, {200, 1000}, {300, 0xFFFFFFFF}, {400, loads_}});
  const OwnerSummary row = RowOfMain();
  ASSERT_EQ(row.idle_frames_size(), 1);
  EXPECT_NEAR(row.idle_frame_ns(0), kGapNs, 1);
}

}  // namespace
}  // namespace utlz
