// Counters on their way from samples and ranges to kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "collector/counters/counter_set.h"
#include "collector/counters/range_calibration.h"
#include "collector/decode/sample_decoder.h"
#include "collector/waterfall_slices.h"
#include "tests/support/counted_run.h"

namespace utlz {
namespace {

using Build = RunBuilder;

double WindowShareOf(const Summary& summary, std::string_view name) {
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name() == name) return slice.steady_state_share();
  }
  return 0;
}

TEST(CounterSetTest, BringsRollUpsToOneUnit) {
  MetricSet set;
  AddMetric(&set, "sm__cycles_elapsed.max", METRIC_SM_CYCLES_ELAPSED, "cycle");
  AddMetric(&set, "sm__pipe_tensor.sum", METRIC_TENSOR_ACTIVE, "cycle", 400);
  AddMetric(&set, "sm__cycles_active.sum", METRIC_SM_CYCLES_ACTIVE, "cycle");
  AddMetric(&set, "fp64.avg.pct", METRIC_FP64_ACTIVE, "percent");
  AddMetric(&set, "dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte");
  const CounterSet counters(set, 100);
  std::vector<double> row;
  const std::vector<double> raw = {1000, 200'000, 50'000, 25, 4096};
  ASSERT_TRUE(counters.Convert(raw, &row));
  const auto value = [&](MetricRole role) { return row[*counters.IndexOf(role)]; };
  EXPECT_EQ(value(METRIC_SM_CYCLES_ELAPSED), 1000);
  EXPECT_EQ(value(METRIC_TENSOR_ACTIVE), 500) << "half of the peak of 400 a cycle";
  EXPECT_EQ(value(METRIC_SM_CYCLES_ACTIVE), 500) << "half of 100 SMs";
  EXPECT_EQ(value(METRIC_FP64_ACTIVE), 250);
  EXPECT_EQ(value(METRIC_DRAM_READ_BYTES), 4096);
  EXPECT_FALSE(counters.Convert(std::vector<double>{1000, NAN, 0, 0, 0}, &row));
  EXPECT_FALSE(counters.Convert(std::vector<double>{1000, 0, 0, 0, -1}, &row));
}

// Roles are indices of arrays, and a file may hold any number for one.
TEST(CounterSetTest, LeavesRolesOutThatItDoesNotKnow) {
  MetricSet set;
  for (const int role : {MetricRole_MAX + 1, 65'536, INT32_MAX, -1}) {
    AddMetric(&set, "of_a_newer_sampler.sum", static_cast<MetricRole>(role), "byte");
  }
  AddMetric(&set, "dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte");
  const CounterSet counters(set, 100);
  ASSERT_EQ(counters.roles().size(), 1u);
  EXPECT_EQ(counters.roles()[0], METRIC_DRAM_READ_BYTES);
}

TEST(SampleDecoderTest, RebuildsTimesAndValues) {
  MetricSet set;
  AddMetric(&set, "dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte");
  set.mutable_metric(0)->set_resolution(32);
  SampleBatch batch;
  batch.set_base_ns(1000);
  batch.set_samples(3);
  batch.set_interval_ns(100);
  for (const int residual : {0, 5, -5}) batch.add_interval_residual_ns(residual);
  batch.add_gap_sample(2);
  batch.add_gap_ns(1000);
  SampleBatch::Column* column = batch.add_column();
  for (const int64_t delta : {10, -4, 1}) column->add_delta(delta);
  DecodedSamples samples;
  ASSERT_TRUE(DecodeSamples(batch, set, &samples));
  EXPECT_EQ(samples.start_ns, (std::vector<uint64_t>{1000, 1100, 2205}));
  EXPECT_EQ(samples.end_ns, (std::vector<uint64_t>{1100, 1205, 2300}));
  EXPECT_EQ(samples.values, (std::vector<double>{320, 192, 224}));
  column->add_delta(1);
  EXPECT_FALSE(DecodeSamples(batch, set, &samples));
  column->mutable_delta()->RemoveLast();
  batch.set_gap_sample(0, 7);
  EXPECT_FALSE(DecodeSamples(batch, set, &samples));
  batch.set_gap_sample(0, 2);
  batch.set_samples(UINT32_MAX);
  EXPECT_FALSE(DecodeSamples(batch, set, &samples));
}

Activity LaunchOf(uint32_t kernel, uint64_t start_ns) {
  return {.start_ns = start_ns,
          .end_ns = start_ns + 10,
          .kernel = kernel,
          .stream = 0,
          .context = 1,
          .source = 1,
          .kind = ActivityKind::kCompute};
}

void AddRange(RangeBatch* batch, uint64_t start_ns, uint32_t launches, std::vector<double> values) {
  RangeBatch::Range* range = batch->add_ranges();
  range->set_start_ns(start_ns);
  range->set_end_ns(start_ns + 1000);
  range->set_context(1);
  range->set_launches(launches);
  for (const double value : values) range->add_value(value);
}

TEST(RangeCalibrationTest, JoinsRangesToTheirKernels) {
  RangeCalibration calibration;
  RangeBatch batch;
  batch.add_metric("sm__ops_path_tensor_src_bf16_dst_fp32.sum");
  batch.add_metric("sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum");
  batch.add_metric("sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum");
  batch.add_metric("dram__bytes_read.sum");
  AddRange(&batch, 0, 3, {200, 150, 30, 7});
  AddRange(&batch, 2000, 3, {100, 50, 60, 7});
  AddRange(&batch, 4000, 3, {300, 50, 60, 7});
  ASSERT_TRUE(calibration.Add(1, 0, batch));
  const std::vector<std::vector<uint32_t>> kernels = {{1, 1, 2}, {1, 2, 2}, {2, 2, 1}};
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (size_t k = 0; k < kernels[i].size(); ++k) {
      calibration.AddActivity(0, LaunchOf(kernels[i][k], 2000 * i + 100 * (k + 1)));
    }
  }
  calibration.AdvanceTo(0, UINT64_MAX);
  EXPECT_EQ(calibration.ranges(), 3u);
  const std::vector<CountedMix> mixes = calibration.Mixes();
  ASSERT_EQ(mixes.size(), 2u);
  EXPECT_EQ(mixes[0].kernels, (std::map<uint32_t, uint32_t>{{1, 1}, {2, 2}}));
  EXPECT_EQ(mixes[0].counts.at("bf16").operations, 200) << "the whole type's, the mean of two";
  EXPECT_FALSE(mixes[0].counts.at("bf16").warp_groups_only);
  EXPECT_NEAR(mixes[0].counts.at("bf16").error, 100, 1e-9) << "100 and 300";
  EXPECT_EQ(mixes[0].counts.at("tf32").operations, 60);
  EXPECT_EQ(mixes[0].counts.at("tf32").error, 0);
  EXPECT_TRUE(mixes[0].counts.at("tf32").warp_groups_only);
  EXPECT_EQ(mixes[1].counts.at("bf16").operations, 200);
}

TEST(RangeCalibrationTest, DiscardsRangesThatAreNotWhole) {
  RangeCalibration calibration;
  RangeBatch batch;
  batch.add_metric("sm__ops_path_tensor_src_bf16_dst_fp32.sum");
  AddRange(&batch, 0, 5, {300});
  ASSERT_TRUE(calibration.Add(1, 0, batch));
  calibration.AddActivity(0, LaunchOf(1, 100));
  calibration.AdvanceTo(0, UINT64_MAX);
  EXPECT_EQ(calibration.ranges(), 0u);
  EXPECT_EQ(calibration.discarded(), 1u);
  EXPECT_TRUE(calibration.empty());
  AddRange(&batch, 0, 1, {1, 2});
  EXPECT_FALSE(calibration.Add(1, 0, batch));
}

// Three nodes of a graph are one launch; the kernel that CUPTI puts beside a range is none.
TEST(RangeCalibrationTest, AGraphIsOneLaunch) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"node_a", "node_b", "WaitNs", "plain"});
  uint32_t correlation = 10;
  for (const uint64_t start_ns : {10'000u, 40'000u}) {
    run.SendLaunches({Build::LaunchAt(start_ns, 100, 0), Build::LaunchAt(start_ns + 200, 100, 1),
                      Build::LaunchAt(start_ns + 400, 100, 1)},
                     1, 7, correlation++);
    run.SendLaunches(
        {Build::LaunchAt(start_ns + 600, 100, 3), Build::LaunchAt(start_ns + 800, 5000, 2)});
  }
  RangeBatch batch;
  batch.add_metric("sm__ops_path_tensor_src_bf16_dst_fp32.sum");
  AddRange(&batch, kRunStartNs + 9'000, 2, {300});
  AddRange(&batch, kRunStartNs + 39'000, 3, {300});
  for (RangeBatch::Range& range : *batch.mutable_ranges())
    range.set_end_ns(range.start_ns() + 9'000);
  run.Send(1, FRAME_RANGES, batch);
  run.EndProcess();
  const Summary summary = run.EndRun(100'000);
  EXPECT_EQ(summary.capture().ranges(), 1u);
  EXPECT_EQ(summary.capture().ranges_discarded(), 1u) << "three launches were told, two seen";
  EXPECT_EQ(summary.capture().launches(), 8u);
  for (const KernelSummary& kernel : summary.kernels()) EXPECT_NE(kernel.name(), "WaitNs");
}

TEST(RangeCalibrationTest, WordThatThereAreNoneIsNotRefused) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  RangeBatch batch;
  batch.set_discarded(2);
  run.Send(1, FRAME_RANGES, batch);
  run.EndProcess();
  const Summary summary = run.EndRun(100'000);
  EXPECT_EQ(summary.capture().frames_refused(), 0u);
  EXPECT_EQ(summary.capture().ranges_discarded(), 2u);
}

TEST(CountedRunTest, GivesKernelsTheirCounters) {
  const Summary summary = CountedRun().Run();
  ASSERT_EQ(summary.kernels_size(), 2);
  const KernelSummary& a =
      summary.kernels(0).name() == "copy_b" ? summary.kernels(1) : summary.kernels(0);
  const KernelSummary& b =
      summary.kernels(0).name() == "copy_b" ? summary.kernels(0) : summary.kernels(1);
  const double time_ns = CountedRun::kRepetitions * CountedRun::kKernelNs;
  EXPECT_NEAR(a.dram_read_bytes(), 4 * time_ns, 0.02 * 4 * time_ns);
  EXPECT_NEAR(b.dram_write_bytes(), time_ns, 0.02 * time_ns);
  // Clock 1 GHz: half of the cycles × 1000 FLOPs.
  EXPECT_NEAR(a.flops(), 0.5 * time_ns * 1000, 0.02 * 0.5 * time_ns * 1000);
  ASSERT_EQ(a.flops_by_type_size(), 1);
  EXPECT_EQ(a.flops_by_type(0).data_type(), "bf16");
  EXPECT_TRUE(a.flops_by_type(0).assumed());
  EXPECT_EQ(a.flops_source(), SOURCE_SAMPLED);
  EXPECT_FALSE(b.has_flops());
  EXPECT_NEAR(a.roofline_efficiency(), 0.8, 0.02) << "4 of 5 bytes a nanosecond";
  EXPECT_EQ(a.bound(), BOUND_MEMORY);
  EXPECT_EQ(b.bound(), BOUND_LATENCY);
  EXPECT_NEAR(b.estimated_savings_ns(), 0.8 * time_ns, 0.02 * time_ns);
}

TEST(CountedRunTest, WithholdsTheRooflineOfAMatrixKernelWithoutFlops) {
  const Summary summary = CountedRun({}, "ampere_sgemm_128x64_tn", METRIC_OTHER).Run();
  for (const KernelSummary& kernel : summary.kernels()) {
    EXPECT_FALSE(kernel.has_flops()) << kernel.name();
    EXPECT_TRUE(kernel.has_dram_bytes()) << kernel.name();
    const bool matrix = kernel.name() != "copy_b";
    EXPECT_EQ(kernel.has_estimated_savings_ns(), !matrix) << kernel.name();
    EXPECT_EQ(kernel.bound(), matrix ? BOUND_UNKNOWN : BOUND_LATENCY) << kernel.name();
  }
}

TEST(CountedRunTest, GivesTheDeviceItsTotals) {
  const Summary summary = CountedRun().Run();
  const DeviceSummary& device = summary.devices(0);
  const double window_ns = static_cast<double>(device.steady_state_ns());
  // The last repetition is not over, and so is no step.
  const double time_ns = (CountedRun::kRepetitions - 1) * CountedRun::kKernelNs;
  EXPECT_NEAR(device.gpu_busy_share(), 2 * time_ns / window_ns, 1e-9);
  EXPECT_NEAR(device.sm_active_share(), 2 * time_ns / window_ns, 0.01);
  EXPECT_NEAR(device.tensor_active_share(), 0.5 * time_ns / window_ns, 0.01);
  EXPECT_NEAR(device.hfu(), 0.5 * time_ns / window_ns, 0.01);
  EXPECT_NEAR(device.hbm_bandwidth_share(), 5 * time_ns / window_ns / 5, 0.01);
  EXPECT_NEAR(device.sm_clock_hz(), 1e9, 1e6);
  EXPECT_NEAR(device.attributed_bytes_share() + device.idle_bytes_share() +
                  device.unattributed_bytes_share(),
              1, 1e-9);
  EXPECT_EQ(device.source(), SOURCE_SAMPLED);
  EXPECT_EQ(summary.capture().counter_source(), SOURCE_SAMPLED);
  double sum = 0;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) sum += slice.time_ns();
  EXPECT_NEAR(sum, summary.waterfall().total_ns(), 1e-6 * sum);
}

// What samples saw while nothing was recorded is the device's, and no kernel's.
TEST(CountedRunTest, UntracedTimeSpoilsNoKernel) {
  CountedRun whole;
  const Summary reference = whole.Run();
  CountedRun run;
  run.TraceOnly(150, 200);
  const Summary summary = run.Run();
  ASSERT_EQ(summary.kernels_size(), 2);
  for (const KernelSummary& kernel : summary.kernels()) {
    const bool first = kernel.mangled_name() == reference.kernels(0).mangled_name();
    const KernelSummary& expected = reference.kernels(first ? 0 : 1);
    EXPECT_NEAR(kernel.dram_bytes() / static_cast<double>(kernel.launches()),
                expected.dram_bytes() / static_cast<double>(expected.launches()),
                0.01 * expected.dram_bytes() / static_cast<double>(expected.launches()));
  }
  EXPECT_GT(summary.devices(0).attributed_bytes_share(), 0.99);
  EXPECT_NEAR(summary.devices(0).hbm_bandwidth_share(), reference.devices(0).hbm_bandwidth_share(),
              0.01);
}

// Where the first samples find nothing to count and the last come before the work, an idle GPU is
// all that they saw.
TEST(CountedRunTest, SamplesThatMetNoKernelSayNothingOfTheirTime) {
  CountedRun run;
  run.SampleUntil(100);
  run.WorkFrom(200);
  const Summary summary = run.Run();
  ASSERT_EQ(summary.kernels_size(), 2);
  const DeviceSummary& device = summary.devices(0);
  EXPECT_GT(device.gpu_busy_share(), 0.5);
  EXPECT_FALSE(device.has_hbm_bandwidth_share());
  EXPECT_FALSE(device.has_sm_active_share());
  EXPECT_FALSE(device.has_tensor_active_share());
  EXPECT_FALSE(device.has_hfu());
  EXPECT_EQ(summary.capture().kernel_time_without_counters_share(), 1);
  EXPECT_EQ(summary.verdict().find("FLOPs"), std::string::npos) << summary.verdict();
}

// One step in a hundred of those sampled, none of those traced: kernels that fill the GPU keep more
// of it active than these samples saw.
TEST(CountedRunTest, SamplesThatSawLessThanKernelsHoldSayNothingOfTheirTime) {
  CountedRun run;
  run.SampleUntil(100);
  run.WorkFrom(99);
  run.TraceOnly(200, 300);
  const DeviceSummary device = run.Run().devices(0);
  EXPECT_GT(device.gpu_busy_share(), 0.5);
  EXPECT_FALSE(device.has_sm_active_share());
  EXPECT_FALSE(device.has_hfu());
  EXPECT_FALSE(device.has_hbm_bandwidth_share());
}

// The two kernels that samples met are 9 % of the kernel time, and no sample was taken in the
// steps: nothing is known of the kernel that does the rest.
TEST(CountedRunTest, FewKernelsWithCountersAreNoSampleOfTheOthers) {
  CountedRun run;
  run.LateKernelFrom(40);
  const Summary summary = run.Run();
  const DeviceSummary& device = summary.devices(0);
  EXPECT_GT(summary.capture().kernel_time_without_counters_share(), 0.9);
  EXPECT_FALSE(device.has_hfu());
  EXPECT_FALSE(device.has_tensor_active_share());
  EXPECT_FALSE(device.has_sm_active_share());
  EXPECT_FALSE(device.has_hbm_bandwidth_share());
  EXPECT_FALSE(summary.efficiency().has_attainable_hfu());
  EXPECT_EQ(summary.verdict().find("FLOPs"), std::string::npos) << summary.verdict();
}

// Of few kernels without counters it is assumed that they do as the others, give or take all of it.
TEST(CountedRunTest, WhatKernelsWithoutCountersMayDoIsInTheError) {
  CountedRun run;
  run.LateKernelBesideFrom(100);
  const DeviceSummary device = run.Run().devices(0);
  const double known_ns = 400.0 * 2 * CountedRun::kKernelNs;
  const double late_ns = 300.0 * CountedRun::kKernelBesideNs;
  const double late_share = late_ns / (known_ns + late_ns);
  EXPECT_NEAR(1.959964 * device.hfu_error(), late_share * device.hfu(),
              0.2 * late_share * device.hfu());
}

// What runs when no step comes any more does nothing to them, though it is a third of the kernel
// time: the steps' figures are those of a run without it.
TEST(CountedRunTest, KernelsOutsideTheStepsAreNotInTheirFigures) {
  const Summary reference = CountedRun().Run();
  CountedRun run;
  run.LateKernelFrom(300);
  const Summary summary = run.Run();
  const DeviceSummary& device = summary.devices(0);
  EXPECT_NEAR(device.hfu(), reference.devices(0).hfu(), 0.02 * reference.devices(0).hfu());
  EXPECT_LT(1.959964 * device.hfu_error(), 0.05 * device.hfu());
  EXPECT_NEAR(WindowShareOf(summary, kSliceUseful), WindowShareOf(reference, kSliceUseful), 0.01);
  EXPECT_LT(WindowShareOf(summary, kSliceUnknown), 0.01);
}

// Of an elementwise kernel they are its neighbours' spill, or packed arithmetic of its own.
TEST(CountedRunTest, TensorCyclesOfNoTensorWorkMayBeFlopsOrNot) {
  const Summary reference = CountedRun().Run();
  const Summary summary = CountedRun({}, "triton_poi_fused_a").Run();
  const double tensor_active = summary.devices(0).tensor_active_share();
  EXPECT_NEAR(tensor_active, reference.devices(0).tensor_active_share(), 0.01);
  EXPECT_NEAR(summary.devices(0).hfu(), tensor_active / 2, 0.01);
  EXPECT_NEAR(1.959964 * summary.devices(0).hfu_error(), tensor_active / 2, 0.01);
  EXPECT_LT(reference.devices(0).hfu_error(), 0.02);
}

TEST(CountedRunTest, WithoutATracedSampleTheDeviceStillHasItsTotals) {
  const Summary reference = CountedRun().Run();
  CountedRun run;
  run.SampleUntil(100);
  run.TraceOnly(200, 300);
  const Summary summary = run.Run();
  ASSERT_EQ(summary.kernels_size(), 2);
  for (const KernelSummary& kernel : summary.kernels()) EXPECT_FALSE(kernel.has_dram_bytes());
  const DeviceSummary& device = summary.devices(0);
  EXPECT_NEAR(device.hbm_bandwidth_share(), reference.devices(0).hbm_bandwidth_share(), 0.01);
  EXPECT_NEAR(device.sm_active_share(), reference.devices(0).sm_active_share(), 0.01);
  EXPECT_FALSE(device.has_attributed_bytes_share());
}

}  // namespace
}  // namespace utlz
