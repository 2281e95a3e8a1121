// HFU of processes, each on the GPUs that it works on.
#include "collector/metrics/process_history.h"

#include <gtest/gtest.h>

#include <vector>

#include "collector/metrics/worth_table.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

class ProcessHistoryTest : public ::testing::Test {
 protected:
  ProcessHistoryTest() { run_.StartRun(); }

  void StartProcess(uint32_t source, char gpu) {
    run_.StartProcess(source, RunBuilder::Uuid(gpu));
    run_.SendKernels({"_Z4gemmPfPKfS1_i"}, source);
  }

  // Kernels that take half of the time of this second.
  void RunKernels(uint32_t source, uint64_t second) {
    std::vector<Launch> launches;
    for (uint64_t i = 0; i < 500; ++i) {
      launches.push_back(
          RunBuilder::LaunchAt(second * kSecondNs + 2 * i * kMillisecondNs, kMillisecondNs));
    }
    run_.SendLaunches(launches, source);
  }

  // Kernels do this share of what their time allows at the peak.
  void Update(double share_of_peak) {
    const RunState& run_state = run_.intake().Advance();
    Analysis analysis;
    analysis.devices.resize(run_state.devices.size());
    for (auto& device : analysis.devices) {
      device.ceilings.clock_hz = 1e9;
      device.ceilings.flops_per_cycle = {{"bf16", 1000}};
    }
    for (uint32_t i = 0; i < run_state.kernels.kernels().size(); ++i) {
      KernelRow row;
      row.kernel = i;
      for (const KernelShare& share : run_state.kernels[i].shares) {
        row.launches += static_cast<double>(share.launches);
        row.time_ns += static_cast<double>(share.time_ns);
      }
      TypedFlops typed;
      typed.data_type = "bf16";
      typed.flops = share_of_peak * 1e9;  // of a millisecond
      row.work.flops.push_back(typed);
      row.roofline.time_ns = row.time_ns;
      row.roofline.compute_time_ns = share_of_peak * row.time_ns;
      analysis.rows.push_back(row);
    }
    worths_.Renew(run_state, analysis);
    work_.Update(run_state, worths_);
    history_.Update(run_state, work_);
  }

  RunBuilder run_;
  WorthTable worths_;
  WorkLedger work_;
  ProcessHistory history_;
};

TEST_F(ProcessHistoryTest, OfTheLastSeconds) {
  StartProcess(1, 'A');
  StartProcess(2, 'B');
  for (uint64_t second = 0; second < 40; ++second) {
    RunKernels(1, second);
    if (second % 2 == 0) RunKernels(2, second);
    Update(second < 20 ? 0.8 : 0.4);
  }
  EXPECT_NEAR(history_.Hfu(1).value(), 0.2, 0.02);
  EXPECT_NEAR(history_.Hfu(2).value(), 0.1, 0.02);
  EXPECT_FALSE(history_.Hfu(3).has_value());
}

TEST_F(ProcessHistoryTest, OnTwoGpusTheMeanOfBoth) {
  StartProcess(1, 'A');
  Device device;
  device.set_ordinal(1);
  device.set_uuid(RunBuilder::Uuid('B'));
  run_.Send(1, FRAME_DEVICE, device);
  Context context;
  context.set_id(2);
  context.set_device_ordinal(1);
  run_.Send(1, FRAME_CONTEXT, context);
  for (uint64_t second = 0; second < 10; ++second) {
    RunKernels(1, second);
    if (second == 0) {
      CopyBatch copies;
      copies.set_base_ns(kRunStartNs);
      copies.add_kind(COPY_DEVICE_TO_DEVICE);
      copies.add_start_delta_ns(10);
      copies.add_duration_ns(1000);
      copies.add_bytes(8);
      copies.add_stream(7);
      copies.add_context(2);
      run_.Send(1, FRAME_COPIES, copies);
    }
    Update(0.8);
  }
  EXPECT_NEAR(history_.Hfu(1).value(), 0.2, 0.02);
}

TEST_F(ProcessHistoryTest, NothingOfAProcessThatEnded) {
  StartProcess(1, 'A');
  for (uint64_t second = 0; second < 5; ++second) {
    RunKernels(1, second);
    Update(0.8);
  }
  EXPECT_TRUE(history_.Hfu(1).has_value());
  run_.EndProcess();
  Update(0.8);
  EXPECT_FALSE(history_.Hfu(1).has_value());
}

}  // namespace
}  // namespace utlz
