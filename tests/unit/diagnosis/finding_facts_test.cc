// What the rules of the diagnosis look at, of runs whose counters are known.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collector/diagnosis/gather_facts.h"
#include "tests/support/known_run.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

FindingFacts FactsOf(const KnownRun& run) {
  return GatherFacts(run.state, run.analysis, run.summary);
}

FindingFacts FactsOf(const KnownKernel& kernel) {
  const KnownRun run({kernel});
  FindingFacts facts = FactsOf(run);
  facts.summary = nullptr;  // it ends with the run
  return facts;
}

TEST(FindingFactsTest, TimesOfKernelsAreScaledToTheSteadyPart) {
  // All of it is at a roof, or far from one, only where its parts are scaled alike.
  const auto halved = [](const KnownKernel& kernel) {
    KnownRun run({kernel});
    run.SetComputeNs(kernel.time_ns / 2);
    FindingFacts facts = FactsOf(run);
    facts.summary = nullptr;
    return facts;
  };
  EXPECT_NEAR(halved({.name = "gemm", .time_ns = 4e8, .compute_ns = 1e8, .memory_ns = 3.4e8})
                  .kernels.activations_ns,
              2e8, 1);
  const FindingFacts waits = halved({.name = "scan", .time_ns = 4e8, .memory_ns = 0.8e8});
  EXPECT_NEAR(waits.kernels.one_kernel.time_ns, 2e8, 1);
  EXPECT_NEAR(waits.kernels.one_kernel.lost_ns, 2e8 - 0.4e8 / 0.9, 1);
  EXPECT_NEAR(waits.kernels.savings_ns, 1.6e8, 1);
  EXPECT_NEAR(
      halved({.name = "scan", .time_ns = 4e8, .compute_ns = 0.8e8}).kernels.one_kernel.lost_ns,
      2e8 - 0.4e8 / 0.9, 1);
}

TEST(FindingFactsTest, AKernelThatTookNoTimeSpoilsNothing) {
  const FindingFacts facts = FactsOf({.name = "gemm", .time_ns = 0, .memory_ns = 0, .grid = 1});
  EXPECT_EQ(facts.kernels.small_grid_ns, 0);
  EXPECT_TRUE(std::isfinite(facts.kernels.small_grid_gain_ns));
}

TEST(FindingFactsTest, AFewBlocksAreASmallBatchWhereNoRoofIsNear) {
  const KnownKernel small = {.name = "gemm", .time_ns = 4e8, .grid = 50};
  EXPECT_NEAR(FactsOf(small).kernels.small_grid_gain_ns, 2e8, 1);
  KnownKernel reads = small;
  reads.grid = 40;
  reads.memory_ns = 1.9e8;
  EXPECT_NEAR(FactsOf(reads).kernels.small_grid_gain_ns, 2.1e8, 1) << "its bytes take that long";
  KnownKernel computes = small;
  computes.compute_ns = 3.8e8;
  EXPECT_EQ(FactsOf(computes).kernels.small_grid_ns, 0);
  KnownKernel no_grid = small;  // the entry for all that did not fit
  no_grid.grid = 0;
  EXPECT_EQ(FactsOf(no_grid).kernels.small_grid_ns, 0);
  KnownKernel communicates = small;
  communicates.name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
  EXPECT_EQ(FactsOf(communicates).kernels.small_grid_ns, 0);
}

TEST(FindingFactsTest, OnlyElementwiseKernelsThatMoveBytesCouldBeFused) {
  const KnownKernel moves = {
      .name = "vectorized_elementwise_kernel", .time_ns = 4e8, .compute_ns = 1e8, .memory_ns = 2e8};
  EXPECT_NEAR(FactsOf(moves).kernels.elementwise_ns, 4e8, 1);
  KnownKernel computes = moves;
  std::swap(computes.compute_ns, computes.memory_ns);
  EXPECT_EQ(FactsOf(computes).kernels.elementwise_ns, 0);
  KnownKernel waits = moves;
  waits.compute_ns = 0.1e8;
  waits.memory_ns = 0.5e8;
  EXPECT_EQ(FactsOf(waits).kernels.elementwise_ns, 0) << "it is too small";
  EXPECT_EQ(FactsOf({.name = "scan", .time_ns = 4e8, .memory_ns = 3.9e8}).kernels.weights_ns, 0);
}

TEST(FindingFactsTest, SinglePrecisionIsOfMatrixProductsThatCouldBeFaster) {
  const KnownKernel product = {
      .name = "some_gemm", .time_ns = 2e8, .compute_ns = 1.9e8, .data_type = "fp32"};
  EXPECT_NEAR(FactsOf(product).kernels.single_precision_ns, 2e8, 1);
  KnownKernel other = product;
  other.name = "softmax";
  EXPECT_EQ(FactsOf(other).kernels.single_precision_ns, 0);
  KnownRun without_tensor_cores({product});
  without_tensor_cores.analysis.devices[0].ceilings.flops_per_cycle = {{"fp32", 10}};
  EXPECT_EQ(FactsOf(without_tensor_cores).kernels.single_precision_ns, 0);
  KnownRun slower({product});
  slower.analysis.devices[0].ceilings.flops_per_cycle = {{"fp32", 10}, {"tf32", 5}};
  EXPECT_EQ(FactsOf(slower).kernels.single_precision_gain_ns, 0);
}

TEST(FindingFactsTest, HeatCostsTheClocksShareOfTheTimeWithKernels) {
  const auto throttled = [](double clock_hz, double maximum_hz) {
    KnownRun run({});
    run.summary.mutable_devices(0)->add_clock_limits("software thermal slowdown");
    run.summary.mutable_devices(0)->set_sm_clock_hz(clock_hz);
    run.summary.mutable_devices(0)->set_sm_clock_maximum_hz(maximum_hz);
    return FactsOf(run).throttled_ns;
  };
  EXPECT_NEAR(throttled(1.5e9, 2e9), 0.25 * 0.9e9, 1);
  EXPECT_EQ(throttled(2.1e9, 2e9), 0);
  EXPECT_EQ(throttled(1.5e9, 0), 0) << "its highest clock is not known";
}

TEST(FindingFactsTest, SharesOfSeveralDevicesAreMeansOverTheirTime) {
  KnownRun run({});
  run.summary.mutable_devices(0)->set_sm_active_share(0.5);
  run.summary.mutable_devices(0)->set_hfu(0.4);
  DeviceSummary* other = run.summary.add_devices();
  other->set_steady_state_ns(3'000'000'000);
  other->set_gpu_busy_share(0.1);
  other->set_sm_active_share(0.1);
  other->set_source(SOURCE_TIME_ONLY);
  const FindingFacts facts = FactsOf(run);
  EXPECT_NEAR(facts.window_ns, 4e9, 1);
  EXPECT_NEAR(facts.busy_share, 0.3, 1e-9);
  EXPECT_NEAR(facts.sm_active_share, 0.2, 1e-9);
  EXPECT_TRUE(facts.counters) << "of one of them";
  run.summary.mutable_devices(0)->clear_hfu();
  EXPECT_FALSE(FactsOf(run).counters) << "its samples met no kernel";
  run.summary.mutable_devices(0)->set_hfu(0.4);
  run.summary.mutable_devices(0)->set_source(SOURCE_TIME_ONLY);
  EXPECT_FALSE(FactsOf(run).counters);
}

// Collectives of three processes, of which the last one comes `late` times of `all` 1 ms after the
// others.
FindingFacts WithLagging(int late, int all, bool rank, double exposed_ns = 1e9) {
  KnownRun run({});
  StretchContent& content = run.analysis.devices[0].part.content;
  content.time_ns[static_cast<size_t>(TimeCategory::kCommunication)] = exposed_ns;
  for (uint32_t source = 1; source <= 3; ++source) {
    Process& info = run.state.processes.Get(source)->info;
    info.set_pid(1000 + source);
    ProcessSummary* process = run.summary.add_processes();
    process->set_source_index(source);
    process->add_devices(source == 1 ? "GPU-1" : "GPU-2");
    if (rank) info.set_rank(source - 1);
    uint64_t now_ns = kRunStartNs;
    for (int i = 0; i < all; ++i, now_ns += 100 * kMillisecond) {
      const bool lags = source == 3 && i < late;
      run.state.arrivals.Add(source, now_ns + (lags ? kMillisecond : 0), now_ns + 2 * kMillisecond);
    }
  }
  run.summary.add_devices();
  FindingFacts facts = FactsOf(run);
  facts.summary = nullptr;
  return facts;
}

TEST(FindingFactsTest, WhoIsNearlyAlwaysTheLastLags) {
  const FindingFacts facts = WithLagging(15, 20, false);
  EXPECT_EQ(facts.communication.lagging_process, "process 1003");
  EXPECT_NEAR(facts.communication.lagging_last_share, 0.75, 1e-9);
  EXPECT_NEAR(facts.communication.lagging_delay_ns, 1e6, 1) << "where it was the last";
  EXPECT_NEAR(facts.communication.lagging_lost_ns, 2 * 15e6, 1) << "on both devices";
  EXPECT_NEAR(WithLagging(15, 20, false, 5e6).communication.lagging_lost_ns, 2 * 5e6, 1)
      << "kernels hide the rest of the waits";
  EXPECT_EQ(WithLagging(20, 20, true).communication.lagging_process, "rank 2");
  EXPECT_FALSE(WithLagging(12, 20, false).communication.lagging_process.empty());
  EXPECT_TRUE(WithLagging(11, 20, false).communication.lagging_process.empty()) << "by chance";
  EXPECT_FALSE(WithLagging(10, 10, false).communication.lagging_process.empty());
  EXPECT_TRUE(WithLagging(9, 9, false).communication.lagging_process.empty()) << "too few";
}

// Two jobs of ranks 0 and 1, at once or one after the other: rank 1 lags in the first, and in the
// second where `again`.
std::string LaggingOfTwoJobs(bool again) {
  KnownRun run({});
  StretchContent& content = run.analysis.devices[0].part.content;
  content.time_ns[static_cast<size_t>(TimeCategory::kCommunication)] = 1e9;
  for (uint32_t source = 1; source <= 4; ++source) {
    const uint32_t job = (source - 1) / 2;
    const uint32_t rank = (source - 1) % 2;
    Process& info = run.state.processes.Get(source)->info;
    info.set_pid(1000 + source);
    info.set_rank(rank);
    ProcessSummary* process = run.summary.add_processes();
    process->set_source_index(source);
    process->add_devices(std::to_string(source));
    for (int i = 0; i < 20; ++i) {
      const uint64_t now_ns = kRunStartNs + (i * 100 + job * 50) * kMillisecond;
      const bool lags = rank == 1 && (job == 0 || again);
      run.state.arrivals.Add(source, now_ns + (lags ? kMillisecond : 0), now_ns + 2 * kMillisecond);
    }
  }
  return FactsOf(run).communication.lagging_process;
}

TEST(FindingFactsTest, ARankOfOneJobIsNotThatOfAnother) {
  EXPECT_EQ(LaggingOfTwoJobs(true), "rank 1");
  EXPECT_EQ(LaggingOfTwoJobs(false), "rank 1 (process 1002)");
}

}  // namespace
}  // namespace utlz
