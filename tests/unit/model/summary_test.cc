// What the summary derives: waterfall, steps, findings, peaks; with counters made up exactly.
#include <gtest/gtest.h>

#include <cmath>

#include "collector/model/waterfall.h"
#include "tests/unit/model/run_builder.h"

namespace utlz {
namespace {

using Build = RunBuilder;

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMillisecond = 1'000'000;

double SliceShare(const Summary& summary, const std::string& name) {
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name() == name) return slice.share();
  }
  return 0;
}

const FindingSummary* Finding(const Summary& summary, const std::string& rule) {
  for (const FindingSummary& finding : summary.findings()) {
    if (finding.rule() == rule) return &finding;
  }
  return nullptr;
}

void ExpectSlicesSumToTheWhole(const Summary& summary) {
  double sum = 0;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    EXPECT_GT(slice.time_ns(), 0) << slice.name();
    EXPECT_FALSE(slice.meaning().empty()) << slice.name();
    sum += slice.time_ns();
  }
  EXPECT_NEAR(sum, summary.waterfall().total_ns(), 1e-6 * summary.waterfall().total_ns());
}

// A loop of ten kernels a step, each of `busy_ns`, `gap_ns` apart.
void SendLoop(RunBuilder* run, int steps, uint64_t busy_ns, uint64_t gap_ns,
              uint64_t pause_ns = 0) {
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back("kernel_" + std::to_string(i));
  run->SendKernels(names);
  uint64_t now = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 10; ++i) {
      launches.push_back(Build::LaunchAt(now, busy_ns, i));
      now += busy_ns + gap_ns;
    }
    run->SendLaunches(launches);
    now += pause_ns;
  }
}

TEST(SummaryTest, FindsStepsInRepeatingLaunches) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 50, 100 * kMicrosecond, kMicrosecond);
  const Summary summary = run.EndRun(60 * kMillisecond);
  EXPECT_EQ(summary.steps().source(), "pattern");
  EXPECT_EQ(summary.steps().steps(), 49u);
  EXPECT_NEAR(summary.steps().time_mean_ns(), 1010.0 * kMicrosecond, 1);
  EXPECT_EQ(summary.steps().launches(), 10);
  EXPECT_EQ(summary.steps().slow_size(), 0);
  ExpectSlicesSumToTheWhole(summary);
}

TEST(SummaryTest, NamesSlowStepsAndWhatDiffered) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "e"});
  uint64_t now = 0;
  for (int step = 0; step < 30; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 5; ++i) {
      const uint64_t busy = step == 20 ? 300 : 100;
      launches.push_back(Build::LaunchAt(now, busy * kMicrosecond, i));
      now += (busy + 1) * kMicrosecond;
    }
    run.SendLaunches(launches);
    if (step == 10) now += 2 * kMillisecond;
    if (step == 0) now += 5 * kMillisecond;
  }
  const Summary summary = run.EndRun(100 * kMillisecond);
  EXPECT_EQ(summary.steps().warmup_steps(), 1u);
  ASSERT_EQ(summary.steps().slow_size(), 2);
  EXPECT_EQ(summary.steps().slow(0), 10u);
  EXPECT_NE(summary.steps().slow_reason(0).find("no kernel ran"), std::string::npos);
  EXPECT_EQ(summary.steps().slow(1), 20u);
  EXPECT_NE(summary.steps().slow_reason(1).find("kernels took"), std::string::npos);
}

TEST(SummaryTest, PrefersStepsThatTheProgramNames) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  Strings strings;
  strings.set_first(100);
  for (int i = 0; i < 6; ++i) strings.add_values("train step #" + std::to_string(i));
  strings.add_values("optimizer.step");
  run.Send(1, FRAME_STRINGS, strings);
  MarkerBatch markers;
  markers.set_base_ns(kRunStartNs);
  for (uint32_t i = 0; i < 6; ++i) {
    for (const uint32_t name : {100 + i, 106u}) {
      markers.add_start_delta_ns(name == 106 ? 0 : static_cast<int64_t>(10 * kMillisecond));
      markers.add_duration_ns(8 * kMillisecond);
      markers.add_name(name);
      markers.add_domain(0);
      markers.add_thread(1);
      markers.add_depth(0);
    }
  }
  run.Send(1, FRAME_MARKERS, markers);
  const Summary summary = run.EndRun(100 * kMillisecond);
  EXPECT_EQ(summary.steps().source(), "nvtx");
  EXPECT_EQ(summary.steps().steps(), 6u);
  EXPECT_NEAR(summary.steps().time_p50_ns(), 8.0 * kMillisecond, 1);
  ASSERT_EQ(summary.nvtx_size(), 7);
}

TEST(SummaryTest, FindsNoStepsWhereNothingRepeats) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "e", "f"});
  std::vector<Launch> launches;
  uint32_t state = 1;
  for (uint64_t i = 0; i < 500; ++i) {
    state = state * 1664525u + 1013904223u;
    launches.push_back(Build::LaunchAt(i * 1000, 500, (state >> 16) % 6));
  }
  run.SendLaunches(launches);
  EXPECT_FALSE(run.EndRun(kMillisecond).has_steps());
}

TEST(FindingsTest, LaunchBound) {
  RunBuilder bound;
  bound.StartRun();
  bound.StartProcess();
  SendLoop(&bound, 20, 5 * kMicrosecond, 20 * kMicrosecond);
  const Summary summary = bound.EndRun(10 * kMillisecond);
  const FindingSummary* finding = Finding(summary, "launch_bound");
  ASSERT_NE(finding, nullptr);
  // 199 gaps of 20 µs, of which 1 µs each would stay.
  EXPECT_NEAR(finding->gain_ns(), 199 * 19'000.0, 1);
  EXPECT_GT(SliceShare(summary, kSliceIdleLaunch), 0.3);
  EXPECT_NE(summary.verdict().find("launch-bound"), std::string::npos) << summary.verdict();
  ExpectSlicesSumToTheWhole(summary);

  RunBuilder graph;  // the same kernels as a graph leaves them: gaps that no host could avoid
  graph.StartRun();
  graph.StartProcess();
  SendLoop(&graph, 20, 5 * kMicrosecond, 1 * kMicrosecond);
  EXPECT_EQ(Finding(graph.EndRun(10 * kMillisecond), "launch_bound"), nullptr);
}

TEST(FindingsTest, WaitingForResults) {
  const auto summary_with_pause = [](uint64_t pause_ns) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    run.SendKernels({"a"});
    uint64_t now = 0;
    for (int i = 0; i < 20; ++i) {
      run.SendLaunches({Build::LaunchAt(now, kMillisecond)});
      run.SendCopy(COPY_DEVICE_TO_HOST, now + kMillisecond, 2 * kMicrosecond, 4);
      now += kMillisecond + 2 * kMicrosecond + pause_ns;
    }
    return run.EndRun(100 * kMillisecond);
  };
  EXPECT_NE(Finding(summary_with_pause(200 * kMicrosecond), "synchronization"), nullptr);
  EXPECT_EQ(Finding(summary_with_pause(10 * kMicrosecond), "synchronization"), nullptr);
}

TEST(FindingsTest, SlowInputAndUnpinnedCopies) {
  const auto summary_of = [](uint64_t wait_ns, bool pageable, uint64_t copy_ns) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    run.SendKernels({"a", "b", "c", "d", "e"});
    uint64_t now = 0;
    for (int step = 0; step < 20; ++step) {
      run.SendCopy(COPY_HOST_TO_DEVICE, now, copy_ns, 1000, pageable);
      now += copy_ns + kMicrosecond;
      std::vector<Launch> launches;
      for (uint32_t i = 0; i < 5; ++i) {
        launches.push_back(Build::LaunchAt(now, kMillisecond, i));
        now += kMillisecond + kMicrosecond;
      }
      run.SendLaunches(launches);
      now += wait_ns;
    }
    return run.EndRun(200 * kMillisecond);
  };
  EXPECT_NE(Finding(summary_of(kMillisecond, false, 1000), "input_pipeline"), nullptr);
  EXPECT_EQ(Finding(summary_of(50 * kMicrosecond, false, 1000), "input_pipeline"), nullptr);
  EXPECT_NE(Finding(summary_of(0, true, kMillisecond), "pageable_copies"), nullptr);
  EXPECT_EQ(Finding(summary_of(0, false, kMillisecond), "pageable_copies"), nullptr);
  EXPECT_NE(Finding(summary_of(0, false, kMillisecond), "exposed_copies"), nullptr);
  EXPECT_EQ(Finding(summary_of(0, false, 10 * kMicrosecond), "exposed_copies"), nullptr);
}

TEST(FindingsTest, ExposedCommunication) {
  const auto summary_with_overlap = [](bool overlap) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    run.SendKernels({"gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"});
    for (uint64_t i = 0; i < 10; ++i) {
      run.SendLaunches({Build::LaunchAt(i * 2 * kMillisecond, kMillisecond, 0)}, 1, 7);
      run.SendLaunches(
          {Build::LaunchAt(i * 2 * kMillisecond + (overlap ? 0 : kMillisecond), kMillisecond, 1)}, 1,
          8);
    }
    return run.EndRun(20 * kMillisecond);
  };
  const Summary exposed = summary_with_overlap(false);
  EXPECT_NE(Finding(exposed, "exposed_communication"), nullptr);
  EXPECT_EQ(exposed.devices(0).exposed_communication_ns(), 10 * kMillisecond);
  ASSERT_EQ(exposed.communication_size(), 1);
  EXPECT_EQ(exposed.communication(0).collective(), "AllReduce");
  EXPECT_EQ(exposed.communication(0).launches(), 10u);
  ExpectSlicesSumToTheWhole(exposed);
  const Summary hidden = summary_with_overlap(true);
  EXPECT_EQ(Finding(hidden, "exposed_communication"), nullptr);
  EXPECT_EQ(hidden.devices(0).exposed_communication_ns(), 0u);
}

TEST(FindingsTest, SilentWhenNothingIsWrong) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 20, 200 * kMicrosecond, kMicrosecond);
  EXPECT_EQ(run.EndRun(50 * kMillisecond).findings_size(), 0);
}

TEST(SummaryTest, SaysWhenNothingRan) {
  RunBuilder run;
  run.StartRun();
  const Summary summary = run.EndRun(kMillisecond);
  EXPECT_EQ(summary.devices_size(), 0);
  EXPECT_FALSE(summary.has_waterfall());
  EXPECT_EQ(summary.verdict(), "No work of a GPU was recorded.");
}

TEST(SummaryTest, ComputesMfuAndCostFromWhatThePersonKnows) {
  ModelOptions options;
  options.work.set_flops_per_step(1e9);
  options.work.set_tokens_per_step(2048);
  options.work.set_price_per_hour(3.6);
  RunBuilder run(options);
  run.StartRun();
  run.StartProcess();
  DevicePeaks peaks;
  peaks.set_device_uuid(Build::Uuid());
  peaks.set_sm_clock_hz(1e9);
  peaks.set_sm_clock_maximum_hz(2e9);
  DevicePeaks::Pipe* pipe = peaks.add_pipe();
  pipe->set_data_type("bf16");
  pipe->set_flops_per_cycle(10'000);
  run.Send(0, FRAME_DEVICE_PEAKS, peaks);
  SendLoop(&run, 50, 99 * kMicrosecond, kMicrosecond);  // a step is 1 ms
  const Summary summary = run.EndRun(50 * kMillisecond);
  // 1e9 FLOPs in 1 ms = 1e12 FLOP/s, of 1e13 at the clock that was seen.
  EXPECT_NEAR(summary.efficiency().mfu(), 0.1, 1e-9);
  EXPECT_NEAR(summary.efficiency().mfu_maximum_clock(), 0.05, 1e-9);
  EXPECT_NEAR(summary.efficiency().tokens_per_second(), 2'048'000, 1e-3);
  EXPECT_NEAR(summary.efficiency().cost_per_step(), 1e-6, 1e-15);
  EXPECT_FALSE(summary.efficiency().has_hfu()) << "no counters";
  EXPECT_FALSE(summary.efficiency().has_joules_per_step()) << "no energy readings";
}

TEST(SummaryTest, ReadsNvmlTotals) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  DevicePeaks peaks;
  peaks.set_device_uuid(Build::Uuid());
  peaks.set_memory_bytes(100'000'000'000);
  run.Send(0, FRAME_DEVICE_PEAKS, peaks);
  SendLoop(&run, 5, 99 * kMicrosecond, kMicrosecond);
  DeviceTotalsBatch totals;
  totals.set_device_uuid(Build::Uuid());
  for (uint64_t i = 0; i < 40; ++i) {
    totals.add_time_ns(kRunStartNs + i * 100 * kMillisecond);
    totals.add_power_milliwatts(300'000);
    totals.add_energy_millijoules(static_cast<double>(i) * 30'000);
    totals.add_gpm_sm_active_percent(i == 7 ? NAN : 50);
    totals.add_memory_used_bytes(1e10 + static_cast<double>(i) * 1e9);
    totals.add_clock_limit_reasons(1u << 6);
  }
  run.Send(0, FRAME_DEVICE_TOTALS, totals);
  const Summary summary = run.EndRun(4000 * kMillisecond);
  const DeviceSummary& device = summary.devices(0);
  EXPECT_NEAR(device.power_watts(), 300, 1e-9);
  EXPECT_NEAR(device.energy_joules(), 39 * 30, 1e-9);
  EXPECT_NEAR(device.sm_active_share(), 0.5, 1e-9);
  EXPECT_EQ(device.source(), SOURCE_GPM);
  ASSERT_EQ(device.clock_limits_size(), 1);
  EXPECT_EQ(device.clock_limits(0), "hardware thermal slowdown");
  EXPECT_NEAR(summary.memory().used_bytes_max(), 4.9e10, 1);
  EXPECT_NEAR(summary.memory().headroom_bytes(), 5.1e10, 1);
  EXPECT_TRUE(summary.memory().leak_suspected());
  EXPECT_NEAR(summary.memory().growth_bytes_per_second(), 1e10, 1e8);
}

}  // namespace
}  // namespace utlz
