// The rules of the diagnosis that look at the whole run, its memory and its ranks: a load that
// makes each speak, and one that nearly does.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

using Build = RunBuilder;

// A step each 100 ms for 10 s, NVML read as often; `used(step)` bytes reserved.
Summary WithMemory(const std::function<double(int)>& used) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  DevicePeaks peaks;
  peaks.set_device_uuid(Build::Uuid());
  peaks.set_memory_bytes(80'000'000'000);
  run.Send(0, FRAME_DEVICE_PEAKS, peaks);
  SendLoop(&run, 100, 9'999 * kMicrosecond, kMicrosecond);
  DeviceTotalsBatch totals;
  totals.set_device_uuid(Build::Uuid());
  for (int i = 0; i <= 100; ++i) {
    totals.add_time_ns(kRunStartNs + static_cast<uint64_t>(i) * 100 * kMillisecond);
    totals.add_memory_used_bytes(used(i));
  }
  run.Send(0, FRAME_DEVICE_TOTALS, totals);
  return run.EndRun(10'000 * kMillisecond);
}

TEST(WholeRunFindingsTest, LeakOfMemory) {
  // 20 MB a step, in the blocks of 40 MB that an allocator takes.
  const Summary leak = WithMemory([](int step) { return 10e9 + 40e6 * (step / 2); });
  const FindingSummary* finding = Finding(leak, "memory_leak");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(leak.findings(0).rule(), "memory_leak") << "it ends the run, so it comes first";
  EXPECT_NEAR(leak.memory().growth_bytes_per_step(), 20e6, 1e6);
  EXPECT_NEAR(leak.memory().steps_to_full(), (80e9 - 12e9) / 20e6, 400);
  EXPECT_FALSE(finding->has_gain_ns());
  EXPECT_NE(leak.memory().source().find("reserved"), std::string::npos);

  const Summary freed =
      WithMemory([](int step) { return step >= 100 ? 1e9 : 10e9 + 40e6 * (step / 2); });
  EXPECT_NE(Finding(freed, "memory_leak"), nullptr) << "given back after the last step";

  const auto silent = [](const char* what, const std::function<double(int)>& used) {
    const Summary summary = WithMemory(used);
    EXPECT_EQ(Finding(summary, "memory_leak"), nullptr) << what;
    EXPECT_EQ(summary.memory().leak_suspected(), false) << what;
  };
  silent("flat", [](int) { return 10e9; });
  silent("grows until the first third is over",
         [](int step) { return 10e9 + 1e9 * std::min(step, 33); });
  silent("one jump late", [](int step) { return step < 70 ? 10e9 : 30e9; });
  silent("up and down", [](int step) { return 10e9 + 4e9 * (step % 20) / 20; });
  silent("up, then released", [](int step) { return 10e9 + 1e8 * (step < 90 ? step : 10); });
  silent("a few megabytes", [](int step) { return 10e9 + 1e5 * step; });
}

// Three ranks on three GPUs, 20 steps of 10 ms: computing, then an all-reduce that ends for all
// when the last of them has come. Rank 2 computes for `more_ns` longer; else each is late in turn.
Summary WithRanks(uint64_t more_ns, bool in_turn) {
  RunBuilder run;
  run.StartRun();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    run.StartProcess(rank + 1, Build::Uuid(static_cast<char>('A' + rank)));
    Process process;
    process.set_pid(1001 + rank);
    process.set_start_time_ns(kRunStartNs);
    process.set_rank(rank);
    run.Send(rank + 1, FRAME_PROCESS, process);
    run.SendKernels({"gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"}, rank + 1);
  }
  for (uint32_t step = 0; step < 20; ++step) {
    const uint64_t start_ns = step * 10 * kMillisecond;
    const uint64_t last_ns = start_ns + 8 * kMillisecond + more_ns;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      const bool late = rank == (in_turn ? step % 3 : 2);
      const uint64_t busy_ns = 8 * kMillisecond + (late ? more_ns : 0);
      const uint64_t begin_ns = start_ns + busy_ns;
      // The last hops end a little apart.
      const uint64_t end_ns = last_ns + 500 * kMicrosecond + rank * kMicrosecond;
      run.SendLaunches(
          {Build::LaunchAt(start_ns, busy_ns, 0), Build::LaunchAt(begin_ns, end_ns - begin_ns, 1)},
          rank + 1);
    }
  }
  for (uint32_t rank = 0; rank < 3; ++rank) run.EndProcess(rank + 1);
  return run.EndRun(200 * kMillisecond);
}

TEST(WholeRunFindingsTest, RankThatLags) {
  const Summary lagging = WithRanks(kMillisecond, false);
  const FindingSummary* finding = Finding(lagging, "lagging_rank");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->evidence().find("rank 2 comes last to 100.0 %"), std::string::npos)
      << finding->evidence();
  EXPECT_NEAR(finding->gain_ns(), 3 * 20.0 * kMillisecond, 1);
  EXPECT_EQ(Finding(lagging, "exposed_communication"), nullptr) << "what is left of it is little";
  EXPECT_EQ(lagging.processes(2).collectives_matched(), 20u);
  EXPECT_NEAR(lagging.processes(2).collective_late_ns(), 1e6, 1);
  EXPECT_EQ(lagging.processes(0).collective_last_share(), 0);
  EXPECT_EQ(lagging.processes(2).collective_last_share(), 1);
  EXPECT_EQ(Finding(WithRanks(kMillisecond, true), "lagging_rank"), nullptr) << "each in turn";
  EXPECT_EQ(Finding(WithRanks(100 * kMicrosecond, false), "lagging_rank"), nullptr) << "1 %";
}

TEST(WholeRunFindingsTest, UnevenBatches) {
  const Summary in_turn = WithRanks(3 * kMillisecond, true);
  EXPECT_NE(Finding(in_turn, "uneven_batches"), nullptr);
  EXPECT_EQ(Finding(in_turn, "lagging_rank"), nullptr) << "none is always the last";
  EXPECT_EQ(Finding(in_turn, "exposed_communication"), nullptr) << "they wait, and send little";
  EXPECT_EQ(Finding(WithRanks(3 * kMillisecond, false), "uneven_batches"), nullptr);
}

}  // namespace
}  // namespace utlz
