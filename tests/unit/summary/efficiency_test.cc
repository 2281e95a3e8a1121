// MFU, HFU and what lies between them; energy, money and measured ceilings.
#include "collector/summary/efficiency.h"

#include <gtest/gtest.h>

#include "collector/summary/flops_gap.h"
#include "tests/support/counted_run.h"
#include "tests/support/known_run.h"

namespace utlz {
namespace {

// Of a step of CountedRun, at 1 GHz: half of 1000 FLOPs a nanosecond, for 40 µs.
constexpr double kExecuted = 2e7;
constexpr double kStepSeconds = 103e-6;

EfficiencySummary EfficiencyOf(const WorkloadSpec& work,
                               const std::string& name = "nvjet_sm90_tst_a") {
  SummaryOptions options;
  options.work = work;
  return CountedRun(options, name).Run().efficiency();
}

const FlopsGap* Gap(const EfficiencySummary& efficiency, const char* name) {
  for (const FlopsGap& gap : efficiency.gap()) {
    if (gap.name() == name) return &gap;
  }
  return nullptr;
}

void ExpectPartsSumToTheGap(const EfficiencySummary& efficiency) {
  double sum = 0;
  for (const FlopsGap& gap : efficiency.gap()) {
    EXPECT_FALSE(gap.meaning().empty());
    EXPECT_NEAR(gap.share(), gap.flops_per_step() / efficiency.model_flops_per_step(), 1e-9);
    sum += gap.flops_per_step();
  }
  EXPECT_NEAR(sum, efficiency.executed_flops_per_step() - efficiency.model_flops_per_step(), 1);
}

TEST(EfficiencyTest, MfuBesideHfu) {
  WorkloadSpec work;
  work.set_flops_per_step(1.6e7);
  const EfficiencySummary efficiency = EfficiencyOf(work);
  // 1.6e7 FLOPs in 103 µs, of 1e12 a second; executed: a quarter more.
  EXPECT_NEAR(efficiency.mfu(), 1.6e7 / kStepSeconds / 1e12, 0.002);
  EXPECT_NEAR(efficiency.mfu_maximum_clock(), efficiency.mfu() / 2, 1e-3);
  EXPECT_NEAR(efficiency.peak_flops_per_second(), 1e12, 1e9);
  EXPECT_NEAR(efficiency.hfu(), kExecuted / kStepSeconds / 1e12, 0.01);
  EXPECT_NEAR(efficiency.executed_flops_per_step(), kExecuted, 0.02 * kExecuted);
  EXPECT_NE(efficiency.mfu_note().find("bf16"), std::string::npos) << efficiency.mfu_note();
  ASSERT_NE(Gap(efficiency, kGapMore), nullptr);
  EXPECT_NEAR(Gap(efficiency, kGapMore)->share(), 0.25, 0.03);
  EXPECT_NE(efficiency.gap_note().find("% above the model's: " + std::string(kGapMore)),
            std::string::npos)
      << efficiency.gap_note();
  ExpectPartsSumToTheGap(efficiency);
}

TEST(EfficiencyTest, MoreThanTheGpuCanDoIsAnotherModels) {
  WorkloadSpec work;
  work.set_flops_per_step(1.6e7);
  EXPECT_EQ(EfficiencyOf(work).mfu_note().find("not this run's"), std::string::npos);
  work.set_flops_per_step(1.6e9);
  const EfficiencySummary efficiency = EfficiencyOf(work);
  EXPECT_FALSE(efficiency.has_mfu());
  EXPECT_FALSE(efficiency.has_gap_note());
  EXPECT_NE(efficiency.mfu_note().find("more than the GPU can do"), std::string::npos)
      << efficiency.mfu_note();
}

// Few samples say less: a difference that their error explains is none of the program.
TEST(EfficiencyTest, ADifferenceWithinTheErrorSaysSo) {
  for (const double more : {1.03, 1.5}) {
    SummaryOptions options;
    options.work.set_flops_per_step(more * kExecuted);
    CountedRun run(options);
    run.SampleUntil(30);
    const EfficiencySummary efficiency = run.Run().efficiency();
    ASSERT_NEAR(efficiency.hfu_error() / efficiency.hfu(), 0.02, 0.004);
    const bool within = efficiency.gap_note().find("within their error") != std::string::npos;
    EXPECT_EQ(within, more < 1.1) << efficiency.gap_note();
  }
}

TEST(EfficiencyTest, ExecutedFlopsAreOfAllGpusAsTheModelsAre) {
  SummaryOptions options;
  options.work.set_flops_per_step(1.5 * kExecuted);
  CountedRun run(options);
  run.AddDevice('B', 10e9, 500);
  const EfficiencySummary efficiency = run.Run().efficiency();
  EXPECT_NEAR(efficiency.executed_flops_per_step(), 1.5 * kExecuted, 0.02 * kExecuted);
  EXPECT_EQ(efficiency.gap_note(), "executed and model FLOPs agree");
}

// The second GPU could do half of what the first can, and does less of it. Its bus comes first.
TEST(EfficiencyTest, HfuWeighsEachGpuByItsOwnPeakInWhateverOrderTheyAreListed) {
  CountedRun run;
  run.AddDevice('B', 10e9, 500);
  run.TensorShare(0.2);
  run.SetBus(0, "0000:3b:00.0");
  run.SetBus(1, "0000:1B:00.0");
  const Summary summary = run.Run();
  ASSERT_EQ(summary.devices(0).pci_bus(), "0000:1B:00.0");
  const double mean = (2 * summary.devices(1).hfu() + summary.devices(0).hfu()) / 3;
  EXPECT_NEAR(summary.efficiency().hfu(), mean, 0.001);
}

TEST(EfficiencyTest, ExecutedFlopsOfAStepAreThoseOfHfu) {
  // A quarter of the steps ends with a kernel that no sample met: it is taken to work as the
  // others.
  CountedRun beside;
  beside.LateKernelBesideFrom(CountedRun::kRepetitions * 3 / 4);
  const Summary some = beside.Run();
  const double by_hfu = some.devices(0).hfu() * 1e12 * some.steps().time_mean_ns() * 1e-9;
  EXPECT_NEAR(some.efficiency().executed_flops_per_step(), by_hfu, 0.02 * by_hfu);
  // Where it takes nearly all of the time nothing is known of a step's FLOPs.
  CountedRun late;
  late.LateKernelFrom(CountedRun::kRepetitions / 20);
  const Summary most = late.Run();
  ASSERT_FALSE(most.devices(0).has_hfu());
  EXPECT_FALSE(most.efficiency().has_executed_flops_per_step());
  EXPECT_FALSE(most.efficiency().has_flops_per_joule());
}

TEST(EfficiencyTest, FlopsByTokenTimesTokens) {
  WorkloadSpec work;
  work.set_flops_per_token(2e5);
  work.set_tokens_per_step(80);
  const EfficiencySummary efficiency = EfficiencyOf(work);
  EXPECT_EQ(efficiency.model_flops_per_step(), 1.6e7);
  EXPECT_NEAR(efficiency.tokens_per_second(), 80 / kStepSeconds, 1);
}

TEST(EfficiencyTest, NamesPadding) {
  WorkloadSpec work;
  work.set_flops_per_step(1.6e7);
  work.set_tokens_per_step(80);
  work.set_padded_tokens_per_step(100);
  const EfficiencySummary efficiency = EfficiencyOf(work);
  ASSERT_NE(Gap(efficiency, kGapPadding), nullptr);
  EXPECT_NEAR(Gap(efficiency, kGapPadding)->flops_per_step(), 4e6, 1);
  EXPECT_NE(efficiency.gap_note().find("padding 25.0 %"), std::string::npos)
      << efficiency.gap_note();
  ExpectPartsSumToTheGap(efficiency);
}

// Passes forward compute nothing again, and beyond the double nobody reads percent.
TEST(EfficiencyTest, APassForwardRecomputesNothing) {
  WorkloadSpec work;
  work.set_flops_per_step(2e6);
  work.set_forward_flops_per_step(2e6);
  const EfficiencySummary decode = EfficiencyOf(work);
  EXPECT_EQ(Gap(decode, kGapMore), nullptr);
  ASSERT_NE(Gap(decode, kGapMoreForward), nullptr);
  EXPECT_EQ(Gap(decode, kGapMoreForward)->meaning().find("twice"), std::string::npos);
  EXPECT_NE(decode.gap_note().find(" × the model's: channels or tiles"), std::string::npos)
      << decode.gap_note();
  EXPECT_EQ(decode.gap_note().find('%'), std::string::npos) << decode.gap_note();
  work.set_forward_flops_per_step(2e6 / 3);
  const EfficiencySummary training = EfficiencyOf(work);
  ASSERT_NE(Gap(training, kGapMore), nullptr);
  EXPECT_NE(Gap(training, kGapMore)->meaning().find("twice costs 33.3 %"), std::string::npos);
}

TEST(EfficiencyTest, NamesRowsThatOnlyFillUpTiles) {
  const char* narrow = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT";
  WorkloadSpec work;
  work.set_flops_per_step(kExecuted / 10);
  const EfficiencySummary one_row = EfficiencyOf(work, narrow);
  ASSERT_NE(Gap(one_row, kGapTiles), nullptr);
  EXPECT_NEAR(Gap(one_row, kGapTiles)->flops_per_step(), kExecuted * 7 / 8, 0.02 * kExecuted);
  EXPECT_NE(one_row.gap_note().find("rows that fill up tiles 8.7"), std::string::npos)
      << one_row.gap_note();
  EXPECT_NE(Gap(one_row, kGapMoreForward), nullptr) << "no training has such products only";
  ExpectPartsSumToTheGap(one_row);
  work.set_tokens_per_step(6);
  const EfficiencySummary six_rows = EfficiencyOf(work, narrow);
  ASSERT_NE(Gap(six_rows, kGapTiles), nullptr);
  EXPECT_NEAR(Gap(six_rows, kGapTiles)->flops_per_step(), kExecuted * 2 / 8, 0.02 * kExecuted);
  work.set_tokens_per_step(64);
  EXPECT_EQ(Gap(EfficiencyOf(work, narrow), kGapTiles), nullptr) << "they fill the tiles";
  work.set_tokens_per_step(1);
  work.set_flops_per_step(kExecuted / 2);
  const EfficiencySummary rest = EfficiencyOf(work, narrow);
  EXPECT_EQ(Gap(rest, kGapMore), nullptr) << "no more than there is";
  ExpectPartsSumToTheGap(rest);
  EXPECT_EQ(Gap(EfficiencyOf(work), kGapTiles), nullptr) << "its name has no tiles";
}

TEST(EfficiencyTest, NamesAttention) {
  WorkloadSpec work;
  work.set_flops_per_step(1.6e7);
  work.set_attention_flops_per_step(1.2e7);
  const EfficiencySummary efficiency = EfficiencyOf(work, "flash_fwd_kernel_bf16");
  ASSERT_NE(Gap(efficiency, kGapAttention), nullptr);
  EXPECT_NEAR(Gap(efficiency, kGapAttention)->flops_per_step(), 8e6, 0.02 * kExecuted);
  ASSERT_NE(Gap(efficiency, kGapFewer), nullptr);
  EXPECT_NEAR(Gap(efficiency, kGapFewer)->flops_per_step(), -4e6, 1e3)
      << "the model's other products were not executed";
  ExpectPartsSumToTheGap(efficiency);
}

TEST(EfficiencyTest, AgreesWhereNothingIsWasted) {
  WorkloadSpec work;
  work.set_flops_per_step(kExecuted);
  const EfficiencySummary efficiency = EfficiencyOf(work);
  EXPECT_EQ(efficiency.gap_note(), "executed and model FLOPs agree");
}

TEST(EfficiencyTest, TakesWhatTheRunWasToldUnlessTheReaderKnowsBetter) {
  SummaryOptions options;
  options.work.set_price_per_hour(3.6);
  RunStart start;
  start.set_time_ns(kRunStartNs);
  start.mutable_workload_spec()->set_flops_per_step(1e7);
  start.mutable_workload_spec()->set_note("as the run was told");
  {
    CountedRun run(options);
    run.frames().Send(0, FRAME_RUN_START, start);
    const EfficiencySummary efficiency = run.Run().efficiency();
    EXPECT_EQ(efficiency.model_flops_per_step(), 1e7);
    EXPECT_EQ(efficiency.model_note(), "as the run was told");
    EXPECT_EQ(efficiency.price_per_hour(), 3.6);
  }
  options.work.set_flops_per_step(2e7);
  start.mutable_workload_spec()->set_price_per_hour(std::numeric_limits<double>::infinity());
  CountedRun run(options);
  run.frames().Send(0, FRAME_RUN_START, start);
  const EfficiencySummary efficiency = run.Run().efficiency();
  EXPECT_EQ(efficiency.model_flops_per_step(), 2e7);
  EXPECT_FALSE(efficiency.has_model_note()) << "it was of the other FLOPs";
}

TEST(EfficiencyTest, ThroughputInWhatTheJobCounts) {
  WorkloadSpec work;
  work.set_items_per_step(64);
  work.set_item_name("images");
  const EfficiencySummary images = EfficiencyOf(work);
  EXPECT_NEAR(images.steps_per_second(), 1 / kStepSeconds, 1);
  EXPECT_NEAR(images.items_per_second(), 64 / kStepSeconds, 64);
  EXPECT_EQ(images.item_name(), "images");
  EXPECT_FALSE(EfficiencyOf({}).has_items_per_second());
  work.clear_item_name();
  EXPECT_EQ(EfficiencyOf(work).item_name(), "items");
}

// What is not useful costs, but what was not traced is no loss.
TEST(EfficiencyTest, MoneyForWhatIsNotUseful) {
  SummaryOptions options;
  options.work.set_price_per_hour(3.6);
  options.work.set_items_per_step(10);
  const Summary whole = CountedRun(options).Run();
  const EfficiencySummary& efficiency = whole.efficiency();
  // At the highest clock the peak is twice that of the clock that was seen.
  const double useful = whole.devices(0).hfu() / 2;
  EXPECT_NEAR(efficiency.cost_idle_per_hour(), 3.6 * (1 - whole.devices(0).gpu_busy_share()), 0.01);
  EXPECT_NEAR(efficiency.cost_lost_per_hour(), 3.6 * (1 - useful), 0.02);
  EXPECT_NEAR(efficiency.cost_per_item(), 1e-3 * kStepSeconds / 10, 1e-12);
  const double wall_cost = 1e-12 * static_cast<double>(whole.run().wall_ns());
  EXPECT_NEAR(efficiency.cost_lost(), wall_cost * (1 - useful), 0.02 * wall_cost);

  // Half of it is not traced, but for a moment at the end.
  CountedRun half(options);
  half.TraceOnly(0, CountedRun::kRepetitions / 2);
  TraceWindow last;
  last.set_flags(1);
  last.set_start_ns(kRunStartNs + (CountedRun::kRepetitions - 10) * CountedRun::kStepNs);
  last.set_end_ns(kRunStartNs + CountedRun::kRepetitions * CountedRun::kStepNs);
  half.frames().Send(1, FRAME_TRACE_WINDOW, last);
  EXPECT_NEAR(half.Run().efficiency().cost_lost(), efficiency.cost_lost(), 0.02 * wall_cost);
}

TEST(EfficiencyTest, EnergyAndMoneyOfAStep) {
  SummaryOptions options;
  options.work.set_tokens_per_step(80);
  options.work.set_price_per_hour(3.6);
  CountedRun run(options);
  DeviceTotalsBatch totals;
  totals.set_device_uuid(RunBuilder::Uuid());
  double millijoules = 5e6;
  for (uint64_t i = 0; i < 20; ++i) {
    totals.add_time_ns(kRunStartNs + i * 5'000'000);
    totals.add_power_milliwatts(400'000);  // a mean over a second, say
    totals.add_energy_millijoules(millijoules);
    // 300 W while there are steps, 50 W after them.
    millijoules += i < 9 ? 1500 : 250;
  }
  run.frames().Send(0, FRAME_DEVICE_TOTALS, totals);
  const EfficiencySummary efficiency = run.Run().efficiency();
  const double joules = 300 * kStepSeconds;
  EXPECT_NEAR(efficiency.joules_per_step(), joules, 0.01 * joules) << "by the energy counter";
  EXPECT_NEAR(efficiency.flops_per_joule(), kExecuted / joules, 0.03 * kExecuted / joules);
  EXPECT_NEAR(efficiency.tokens_per_joule(), 80 / joules, 0.01 * 80 / joules);
  EXPECT_NEAR(efficiency.cost_per_step(), 1e-3 * kStepSeconds, 1e-12);
  EXPECT_NEAR(efficiency.cost_per_token(), 1e-3 * kStepSeconds / 80, 1e-14);
}

// Kernels that a compiler tried before the first step are none of the steps'.
TEST(EfficiencyTest, WhatRanOutsideOfTheStepsIsNotAttainableInThem) {
  KnownRun run({{.name = "gemm", .time_ns = 4e8, .compute_ns = 3e8, .memory_ns = 2e8},
                {.name = "copy", .time_ns = 4e8, .memory_ns = 3e8},
                {.name = "tried", .time_ns = 8e8, .memory_ns = 6e8}});
  KernelRow& gemm = run.analysis.rows[0];
  gemm.work.flops[0].flops = 3e8 * 1e-9 * *run.analysis.devices[0].ceilings.FlopsPerSecond("bf16");
  run.analysis.rows[2].steady_share = 0;
  SummarizeEfficiency(run.state, run.analysis, &run.summary);
  EXPECT_NEAR(run.summary.efficiency().attainable_hfu(), 3.0 / (3 + 3), 1e-9);
}

TEST(EfficiencyTest, CeilingsThatWereMeasured) {
  CountedRun run;
  DeviceCeilings ceilings;
  ceilings.set_uuid("GPU-41414141-4141-4141-4141-414141414141");
  ceilings.set_time_ns(17);
  DeviceCeilings::Rate* rate = ceilings.add_rate();
  rate->set_data_type("bf16");
  rate->set_flops_per_second(8e11);
  ceilings.set_copy_bytes_per_second(4.5e9);
  ceilings.set_triad_bytes_per_second(4.4e9);
  run.frames().Send(0, FRAME_DEVICE_CEILINGS, ceilings);
  const Summary summary = run.Run();
  const DeviceSummary& device = summary.devices(0);
  EXPECT_EQ(device.ceilings_time_ns(), 17u);
  EXPECT_EQ(device.attained_dram_bytes_per_second(), 4.5e9);
  ASSERT_EQ(device.peaks_size(), 1);
  EXPECT_EQ(device.peaks(0).attained_flops_per_second(), 8e11);
  // A step: arithmetic needs 20 µs at the peak; bytes 160,000 + 40,000 at 5 or 4.5 a nanosecond.
  EXPECT_NEAR(summary.efficiency().attainable_hfu(), 20.0 / 40, 0.01);
  EXPECT_NEAR(summary.efficiency().attainable_hfu_measured(), 20 / (200 / 4.5), 0.01);
  EXPECT_NEAR(device.attained_roofline_time_ns() / device.roofline_time_ns(), 5 / 4.5, 0.01);
}

TEST(EfficiencyTest, HasNoMeasuredCeilingsWhereNoneWereSent) {
  CountedRun run;
  DeviceCeilings hostile;
  for (const char* uuid : {"", "GPU-", "GPU-zz414141-4141-4141-4141-414141414141", "../../x"}) {
    hostile.set_uuid(uuid);
    run.frames().Send(0, FRAME_DEVICE_CEILINGS, hostile);
  }
  const Summary summary = run.Run();
  EXPECT_EQ(summary.capture().frames_refused(), 4u);
  EXPECT_FALSE(summary.devices(0).has_ceilings_time_ns());
  EXPECT_FALSE(summary.efficiency().has_attainable_hfu_measured());
}

}  // namespace
}  // namespace utlz
