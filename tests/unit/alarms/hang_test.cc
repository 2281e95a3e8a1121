// From the frames of ranks to the alarm: one does not come to the collective that the others wait
// in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/alarms/alarm_watch.h"
#include "collector/alarms/subject_name.h"
#include "collector/alarms/take_readings.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kRanks = 4;
constexpr uint32_t kLate = 2;
constexpr char kAllReduce[] =
    "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE";

class HangTest : public testing::Test {
 protected:
  void SetUp() override {
    run_.StartRun();
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      run_.StartProcess(rank + 1, UuidOf(rank));
      if (rank != 0) HoldFirstGpu(rank + 1);
      Process process;
      process.set_pid(100 + rank);
      process.set_rank(rank);
      process.set_start_time_ns(kRunStartNs);
      run_.Send(rank + 1, FRAME_PROCESS, process);
      run_.SendKernels({"_Z4gemmPfPKfS1_i", kAllReduce}, rank + 1);
    }
  }

  static std::string UuidOf(uint32_t rank) {
    return RunBuilder::Uuid(static_cast<char>('A' + rank));
  }

  // Frameworks often leave a context on the first GPU in every rank, which does nothing there.
  void HoldFirstGpu(uint32_t source) {
    Device device;
    device.set_ordinal(1);
    device.set_uuid(UuidOf(0));
    run_.Send(source, FRAME_DEVICE, device);
    Context context;
    context.set_id(2);
    context.set_device_ordinal(1);
    run_.Send(source, FRAME_CONTEXT, context);
  }

  // Five steps of a matrix product and an all-reduce a second.
  void Work() {
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      std::vector<Launch> launches;
      for (uint64_t step = 0; step < 5; ++step) {
        const uint64_t at_ns = second_ * kSecondNs + step * 200 * kMillisecondNs;
        launches.push_back(RunBuilder::LaunchAt(at_ns, 100 * kMillisecondNs, 0));
        launches.push_back(
            RunBuilder::LaunchAt(at_ns + 110 * kMillisecondNs, 50 * kMillisecondNs, 1));
      }
      run_.SendLaunches(launches, rank + 1);
    }
    Pass(97);
  }

  // All but one have done their product, and their all-reduce never ends.
  void Hang() {
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      if (rank == kLate) continue;
      run_.SendLaunches({RunBuilder::LaunchAt(second_ * kSecondNs, 100 * kMillisecondNs, 0)},
                        rank + 1);
    }
  }

  // A second, at whose end agents and the sampler say how it is, as they always do.
  void Pass(double busy_of_late) {
    ++second_;
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      AgentStatus status;
      status.set_time_ns(kRunStartNs + second_ * kSecondNs);
      run_.Send(rank + 1, FRAME_AGENT_STATUS, status);
      DeviceTotalsBatch totals;
      totals.set_device_uuid(UuidOf(rank));
      totals.add_time_ns(kRunStartNs + second_ * kSecondNs);
      totals.add_gpu_busy_percent(rank == kLate ? busy_of_late : 100);
      run_.Send(0, FRAME_DEVICE_TOTALS, totals);
    }
    const RunState& state = run_.intake().Advance();
    metrics_.Take(state, {});
    for (const Alarm& alarm : watch_.Look(TakeReadings(state, metrics_))) told_.push_back(alarm);
  }

  RunBuilder run_;
  RunMetrics metrics_;
  AlarmWatch watch_;
  uint64_t second_ = 0;
  std::vector<Alarm> told_;
};

TEST_F(HangTest, TheAlarmNamesTheRankAndTheCollective) {
  for (int i = 0; i < 30; ++i) Work();
  EXPECT_THAT(told_, IsEmpty());
  Hang();
  for (int i = 0; i < 50; ++i) Pass(0);
  EXPECT_THAT(told_, IsEmpty()) << "a minute is the least";
  for (int i = 0; i < 30; ++i) Pass(0);
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_EQ(told_[0].name(), "collective_hangs");
  EXPECT_EQ(told_[0].collective(), "AllReduce");
  EXPECT_EQ(told_[0].rank(), kLate);
  EXPECT_EQ(told_[0].pid(), 100 + kLate);
  EXPECT_THAT(told_[0].text(), HasSubstr("ranks 0, 1, 3 wait"));
}

TEST(SubjectNames, AreInOrder) {
  const ProcessReading third{.pid = 7, .rank = 3};
  const ProcessReading first{.pid = 9, .rank = 1};
  EXPECT_EQ(SubjectNames({&third, &first}), "ranks 1, 3");
  const ProcessReading unranked{.pid = 8};
  EXPECT_EQ(SubjectNames({&first, &unranked, &third}), "processes 7, 8, 9");
}

TEST_F(HangTest, RanksThatGoOnDoNotHang) {
  for (int i = 0; i < 200; ++i) Work();
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace utlz
