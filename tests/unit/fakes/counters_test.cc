#include <gtest/gtest.h>

#include "tests/fakes/counter_metrics.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {
namespace {

TEST(CountIntervalTest, SpreadsWorkEvenlyOverItsTime) {
  const std::vector<Work> work = {{.start_ns = 1000,
                                   .end_ns = 2000,
                                   .tensor_flops = 800,
                                   .dram_read_bytes = 400,
                                   .dram_write_bytes = 40,
                                   .device = 0,
                                   .is_kernel = 1}};
  const Totals quarter = CountInterval(work, 1500, 1750);
  EXPECT_DOUBLE_EQ(quarter.tensor_flops, 200);
  EXPECT_DOUBLE_EQ(quarter.dram_read_bytes, 100);
  EXPECT_DOUBLE_EQ(quarter.dram_write_bytes, 10);
  EXPECT_DOUBLE_EQ(quarter.active_ns, 250);
}

TEST(CountIntervalTest, CountsOverlappingKernelsOnceAsActive) {
  const std::vector<Work> work = {{0, 600, 0, 0, 0, 0, 1},
                                  {400, 800, 0, 0, 0, 0, 1},
                                  {900, 1000, 0, 0, 0, 0, 0}};
  EXPECT_DOUBLE_EQ(CountInterval(work, 0, 1000).active_ns, 800);
}

TEST(EvaluateMetricTest, TurnsTotalsIntoCounters) {
  Totals totals;
  totals.tensor_flops = 1024e6;
  totals.dram_read_bytes = 5e6;
  totals.active_ns = 500'000;
  constexpr uint64_t kMillisecond = 1'000'000;
  EXPECT_DOUBLE_EQ(*EvaluateMetric("dram__bytes_read.sum", totals, kMillisecond), 5e6);
  EXPECT_DOUBLE_EQ(*EvaluateMetric("sm__ops_path_tensor_src_bf16_dst_fp32.sum", totals,
                                   kMillisecond),
                   1024e6);
  // 4096 FLOP a cycle and SM from four pipes: 1024 a pipe.
  EXPECT_DOUBLE_EQ(*EvaluateMetric("TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.sum",
                                   totals, kMillisecond),
                   1e6);
  EXPECT_DOUBLE_EQ(*EvaluateMetric("sm__cycles_active.avg", totals, kMillisecond),
                   0.5 * kSmClockHz * 1e-3);
  EXPECT_DOUBLE_EQ(*EvaluateMetric("dram__bytes.sum.peak_sustained", {}, 0) * kSmClockHz,
                   kDramBytesPerSecond);
}

TEST(EvaluateMetricTest, RefusesWhatTheChipDoesNotHave) {
  EXPECT_FALSE(EvaluateMetric("dram__bytes_read", {}, 1).has_value()) << "no rollup";
  EXPECT_FALSE(EvaluateMetric("no__such_metric.sum", {}, 1).has_value());
  EXPECT_FALSE(EvaluateMetric("dram__bytes_read.no_such_form", {}, 1).has_value());
}

}  // namespace
}  // namespace utlz::fake
