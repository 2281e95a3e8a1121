// Counters on their way from samples and ranges to kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "collector/model/counter_set.h"
#include "collector/model/range_calibration.h"
#include "collector/model/sample_decoder.h"
#include "tests/unit/model/run_builder.h"

namespace utlz {
namespace {

using Build = RunBuilder;

void AddMetric(MetricSet* set, const char* name, MetricRole role, const char* unit,
               double peak_per_cycle = 0) {
  MetricSet::Metric* metric = set->add_metric();
  metric->set_name(name);
  metric->set_role(role);
  metric->set_unit(unit);
  metric->set_resolution(1);
  metric->set_peak_per_cycle(peak_per_cycle);
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
  return {.start_ns = start_ns, .end_ns = start_ns + 10, .kernel = kernel, .stream = 0, .context = 1,
          .source = 1, .kind = ActivityKind::kCompute};
}

void AddRange(RangeBatch* batch, uint64_t start_ns, uint32_t launches, std::vector<double> values) {
  RangeBatch::Range* range = batch->add_ranges();
  range->set_start_ns(start_ns);
  range->set_end_ns(start_ns + 1000);
  range->set_context(1);
  range->set_launches(launches);
  for (const double value : values) range->add_value(value);
}

TEST(RangeCalibrationTest, SolvesRangesForTheirKernels) {
  // Kernel 1 does 100 bf16 operations, kernel 2 does 30 in tf32, kernel 3 none.
  RangeCalibration calibration;
  RangeBatch batch;
  batch.add_metric("sm__ops_path_tensor_src_bf16_dst_fp32.sum");
  batch.add_metric("sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum");
  batch.add_metric("dram__bytes_read.sum");
  AddRange(&batch, 0, 3, {200, 30, 7});
  AddRange(&batch, 2000, 3, {100, 60, 7});
  AddRange(&batch, 4000, 2, {100, 0, 7});
  ASSERT_TRUE(calibration.Add(1, 0, batch));
  const std::vector<std::vector<uint32_t>> mixes = {{1, 1, 2}, {1, 2, 2}, {1, 3}};
  for (size_t i = 0; i < mixes.size(); ++i) {
    for (size_t k = 0; k < mixes[i].size(); ++k) {
      calibration.AddActivity(0, LaunchOf(mixes[i][k], 2000 * i + 100 * (k + 1)));
    }
  }
  calibration.AdvanceTo(0, UINT64_MAX);
  EXPECT_EQ(calibration.ranges(), 3u);
  RangeCalibration::Prior prior;
  for (const uint32_t kernel : {1u, 2u, 3u}) {
    prior[kernel]["bf16"] = {.per_launch = 20, .spread = 100};
    prior[kernel]["tf32"] = {.per_launch = 20, .spread = 100};
  }
  auto result = calibration.Solve(prior);
  EXPECT_NEAR(result[1]["bf16"].per_launch, 100, 0.5);
  EXPECT_NEAR(result[1]["tf32"].per_launch, 0, 0.5);
  EXPECT_NEAR(result[2]["bf16"].per_launch, 0, 0.5);
  EXPECT_NEAR(result[2]["tf32"].per_launch, 30, 0.5);
  EXPECT_NEAR(result[3]["bf16"].per_launch, 0, 0.5);
  EXPECT_LT(result[1]["bf16"].error, 1);
}

TEST(RangeCalibrationTest, KeepsThePriorsProportionsWhereRangesCannotTell) {
  RangeCalibration calibration;
  RangeBatch batch;
  batch.add_metric("sm__ops_path_tensor_src_bf16_dst_fp32.sum");
  AddRange(&batch, 0, 2, {300});
  ASSERT_TRUE(calibration.Add(1, 0, batch));
  calibration.AddActivity(0, LaunchOf(1, 100));
  calibration.AddActivity(0, LaunchOf(2, 200));
  calibration.AdvanceTo(0, UINT64_MAX);
  RangeCalibration::Prior prior;
  prior[1]["bf16"] = {.per_launch = 150, .spread = 15};
  prior[2]["bf16"] = {.per_launch = 120, .spread = 12};
  auto result = calibration.Solve(prior);
  EXPECT_NEAR(result[1]["bf16"].per_launch + result[2]["bf16"].per_launch, 300, 0.5);
  EXPECT_GT(result[1]["bf16"].per_launch, result[2]["bf16"].per_launch);
  EXPECT_GT(result[1]["bf16"].error, 5) << "the split is not known well";
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

// A run of two kernels whose rates are exactly known: A reads at 4 bytes a nanosecond and keeps the
// tensor pipes half busy, B writes at 1 byte a nanosecond.
class CountedRunTest : public testing::Test {
 protected:
  static constexpr uint64_t kRepetitions = 400;
  static constexpr uint64_t kKernelNs = 40'000;
  static constexpr uint64_t kStepNs = 103'000;
  static constexpr uint64_t kIntervalNs = 5000;

  CountedRunTest() { Begin("nvjet_sm90_tst_a", METRIC_TENSOR_ACTIVE); }

  // `third` is the role of the counter that runs as the tensor pipe's activity does.
  void Begin(const std::string& first_kernel, MetricRole third) {
    run_ = RunBuilder();
    run_.StartRun();
    run_.StartProcess();
    SendPeaks();
    run_.SendKernels({first_kernel, "copy_b"});
    MetricSet set;
    set.set_id(1);
    set.set_device_uuid(Build::Uuid());
    set.set_interval_ns(kIntervalNs);
    AddMetric(&set, "dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte");
    AddMetric(&set, "dram__bytes_write.sum", METRIC_DRAM_WRITE_BYTES, "byte");
    AddMetric(&set, "third.sum", third, "cycle", 400);
    AddMetric(&set, "sm__cycles_active.sum", METRIC_SM_CYCLES_ACTIVE, "cycle", 100);
    AddMetric(&set, "gpc__cycles_elapsed.max", METRIC_SM_CYCLES_ELAPSED, "cycle");
    run_.Send(0, FRAME_METRIC_SET, set);
  }

  void SendPeaks() {
    DevicePeaks peaks;
    peaks.set_device_uuid(Build::Uuid());
    peaks.set_multiprocessors(100);
    peaks.set_sm_clock_maximum_hz(2e9);
    peaks.set_dram_bytes_per_second(5e9);
    DevicePeaks::Pipe* pipe = peaks.add_pipe();
    pipe->set_data_type("bf16");
    pipe->set_flops_per_cycle(1000);
    run_.Send(0, FRAME_DEVICE_PEAKS, peaks);
  }

  // Nanoseconds of [0, end) in which kernel `which` of some repetition runs.
  static double BusyUntil(uint64_t end, uint64_t which) {
    const uint64_t phase = end % kStepNs;
    const uint64_t begin = which * 50'000;
    const uint64_t in_last = phase > begin ? std::min(phase - begin, kKernelNs) : 0;
    return static_cast<double>(end / kStepNs * kKernelNs + in_last);
  }

  static double Overlap(uint64_t start, uint64_t end, uint64_t which) {
    return BusyUntil(end, which) - BusyUntil(start, which);
  }

  Summary Run() {
    std::vector<Launch> launches;
    for (uint64_t i = 0; i < kRepetitions; ++i) {
      launches.push_back(Build::LaunchAt(i * kStepNs, kKernelNs, 0));
      launches.push_back(Build::LaunchAt(i * kStepNs + 50'000, kKernelNs, 1));
    }
    SampleBatch batch;
    batch.set_metric_set(1);
    batch.set_device_uuid(Build::Uuid());
    batch.set_base_ns(kRunStartNs);
    batch.set_interval_ns(kIntervalNs);
    for (int i = 0; i < 5; ++i) batch.add_column();
    int64_t last[5] = {};
    const uint64_t samples = kRepetitions * kStepNs / kIntervalNs;
    for (uint64_t i = 0; i < samples; ++i) {
      const double a = Overlap(i * kIntervalNs, (i + 1) * kIntervalNs, 0);
      const double b = Overlap(i * kIntervalNs, (i + 1) * kIntervalNs, 1);
      const double values[] = {4 * a, b, 0.5 * a * 400, (a + b) * 100, double{kIntervalNs}};
      for (int column = 0; column < 5; ++column) {
        const auto value = static_cast<int64_t>(values[column]);
        batch.mutable_column(column)->add_delta(value - last[column]);
        last[column] = value;
      }
    }
    batch.set_samples(static_cast<uint32_t>(samples));
    run_.Send(0, FRAME_SAMPLES, batch);
    run_.SendLaunches(launches);
    return run_.EndRun(kRepetitions * kStepNs);
  }

  RunBuilder run_;
};

TEST_F(CountedRunTest, GivesKernelsTheirCounters) {
  const Summary summary = Run();
  ASSERT_EQ(summary.kernels_size(), 2);
  const KernelSummary& a = summary.kernels(0).name() == "copy_b" ? summary.kernels(1) : summary.kernels(0);
  const KernelSummary& b = summary.kernels(0).name() == "copy_b" ? summary.kernels(0) : summary.kernels(1);
  const double time_ns = kRepetitions * kKernelNs;
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
  EXPECT_NEAR(b.recoverable_time_ns(), 0.8 * time_ns, 0.02 * time_ns);
}

TEST_F(CountedRunTest, WithholdsTheRooflineOfAMatrixKernelWithoutFlops) {
  Begin("ampere_sgemm_128x64_tn", METRIC_OTHER);
  const Summary summary = Run();
  for (const KernelSummary& kernel : summary.kernels()) {
    EXPECT_FALSE(kernel.has_flops()) << kernel.name();
    EXPECT_TRUE(kernel.has_dram_bytes()) << kernel.name();
    const bool matrix = kernel.name() != "copy_b";
    EXPECT_EQ(kernel.has_recoverable_time_ns(), !matrix) << kernel.name();
    EXPECT_EQ(kernel.bound(), matrix ? BOUND_UNKNOWN : BOUND_LATENCY) << kernel.name();
  }
}

TEST_F(CountedRunTest, GivesTheDeviceItsTotals) {
  const Summary summary = Run();
  const DeviceSummary& device = summary.devices(0);
  const double window_ns = static_cast<double>(device.window_ns());
  const double time_ns = kRepetitions * kKernelNs;
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
  EXPECT_EQ(summary.capture().rung(), SOURCE_SAMPLED);
  double sum = 0;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) sum += slice.time_ns();
  EXPECT_NEAR(sum, summary.waterfall().total_ns(), 1e-6 * sum);
}

}  // namespace
}  // namespace utlz
