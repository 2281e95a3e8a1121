// Every rule of the diagnosis: a load that makes it speak, and one that nearly does.
#include "collector/model/findings.h"

#include <gtest/gtest.h>

#include <functional>

#include "collector/model/finding_facts.h"
#include "collector/model/waterfall.h"
#include "tests/unit/model/made_up_loads.h"

namespace utlz {
namespace {

using Build = RunBuilder;

TEST(FindingsTest, LaunchBound) {
  RunBuilder bound;
  bound.StartRun();
  bound.StartProcess();
  SendLoop(&bound, 20, 5 * kMicrosecond, 20 * kMicrosecond);
  const Summary summary = bound.EndRun(10 * kMillisecond);
  const FindingSummary* finding = Finding(summary, "launch_bound");
  ASSERT_NE(finding, nullptr);
  // 190 gaps of 20 µs in the 19 steps that are over, of which 1 µs each would stay.
  EXPECT_NEAR(finding->gain_ns(), 190 * 19'000.0, 1);
  EXPECT_NEAR(finding->gain_per_step_ns(), 10 * 19'000.0, 1);
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

TEST(FindingsTest, HostWorkInTheMiddleOfSteps) {
  const auto summary_with_pause = [](uint64_t pause_ns, bool steps) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    run.SendKernels({"a", "b", "c", "d", "e", "f"});
    uint64_t now = 0;
    for (uint32_t step = 0; step < 20; ++step) {
      std::vector<Launch> launches;
      for (uint32_t i = 0; i < 6; ++i) {
        // Without steps: another order each time, as requests would come.
        const uint32_t kernel = steps ? i : (i * (step % 5 + 1) + step * step) % 6;
        launches.push_back(Build::LaunchAt(now, kMillisecond, kernel));
        now += kMillisecond + kMicrosecond + (i == 2 ? pause_ns : 0);
      }
      run.SendLaunches(launches);
    }
    return run.EndRun(200 * kMillisecond);
  };
  EXPECT_NE(Finding(summary_with_pause(kMillisecond, true), "host_work"), nullptr);
  EXPECT_EQ(Finding(summary_with_pause(500 * kMicrosecond, true), "host_work"), nullptr);
  const Summary irregular = summary_with_pause(kMillisecond, false);
  EXPECT_FALSE(irregular.has_steps());
  EXPECT_EQ(Finding(irregular, "host_work"), nullptr) << "it may wait for requests";
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
          {Build::LaunchAt(i * 2 * kMillisecond + (overlap ? 0 : kMillisecond), kMillisecond, 1)},
          1, 8);
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

// One kernel of a run whose counters are known.
struct KnownKernel {
  std::string name;
  double time_ns = 0;
  std::optional<double> compute_ns = std::nullopt;  // its FLOPs at the peak
  std::optional<double> memory_ns = std::nullopt;   // its bytes at the bandwidth
  uint32_t grid = 1000;
  std::string data_type = "bf16";
};

// The findings of a run of one second on a device of 100 SMs with these kernels.
Summary Diagnosed(const std::vector<KnownKernel>& kernels,
                  const std::function<void(Summary*)>& change = {}) {
  ModelState model;
  const uint32_t device = *model.devices.Find(Build::Uuid());
  model.devices[device].used = true;
  model.devices[device].info.set_multiprocessors(100);
  ProcessState* process = model.processes.Get(1);
  Analysis analysis;
  analysis.devices.resize(1);
  analysis.devices[0].ceilings.clock_hz = 1e9;
  analysis.devices[0].ceilings.flops_per_cycle = {{"fp32", 10}, {"tf32", 80}, {"bf16", 160}};
  Strings strings;
  Variants variants;
  strings.set_first(1);
  for (const KnownKernel& kernel : kernels) {
    strings.add_values(kernel.name);
    variants.add_name(static_cast<uint32_t>(strings.values_size()));
    variants.add_grid_x(kernel.grid);
    variants.add_grid_y(1);
    variants.add_grid_z(1);
    variants.add_block_x(128);
    variants.add_block_y(1);
    variants.add_block_z(1);
  }
  EXPECT_TRUE(model.processes.AddStrings(process, strings));
  EXPECT_TRUE(model.processes.AddVariants(process, variants));
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    KernelRow row;
    row.kernel = model.kernels.Find(process, i, device);
    row.launches = 1;
    row.time_ns = kernels[i].time_ns;
    row.roofline = {.time_ns = kernels[i].time_ns,
                    .compute_time_ns = kernels[i].compute_ns,
                    .memory_time_ns = kernels[i].memory_ns};
    if (kernels[i].compute_ns.has_value()) {
      TypedFlops flops;
      flops.data_type = kernels[i].data_type;
      flops.flops = 1;
      row.work.flops.push_back(flops);
    }
    analysis.rows.push_back(row);
  }
  double compute_ns = 0;
  for (const KernelRow& row : analysis.rows) compute_ns += row.time_ns;
  DevicePart& part = analysis.devices[0].part;
  part.content.time_ns[static_cast<size_t>(TimeCategory::kCompute)] = compute_ns;
  Summary summary;
  DeviceSummary* described = summary.add_devices();
  described->set_window_ns(1'000'000'000);
  described->set_kernel_time_ns(900'000'000);
  described->set_gpu_busy_share(0.9);
  described->set_source(SOURCE_SAMPLED);
  if (change) change(&summary);
  SummarizeFindings(model, analysis, &summary);
  return summary;
}

TEST(FindingsTest, SmallBatch) {
  // Ten blocks on a hundred SMs: a tenth of the time would do.
  const KnownKernel tiny = {.name = "gemm", .time_ns = 3e8, .grid = 10};
  const Summary summary = Diagnosed({tiny});
  const FindingSummary* finding = Finding(summary, "small_batch");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_ns(), 2.7e8, 1);
  EXPECT_EQ(Finding(Diagnosed({{.name = "gemm", .time_ns = 3e8, .grid = 100}}), "small_batch"),
            nullptr)
      << "one block for each SM";
  EXPECT_EQ(Finding(Diagnosed({{.name = "gemm", .time_ns = 2e8, .grid = 10}}), "small_batch"),
            nullptr)
      << "a fifth of the time";
  KnownKernel at_the_roof = tiny;
  at_the_roof.memory_ns = 2e8;
  EXPECT_EQ(Finding(Diagnosed({at_the_roof}), "small_batch"), nullptr) << "its few blocks suffice";
}

TEST(FindingsTest, SinglePrecisionWhereTensorCoresWouldDo) {
  // FP32 pipes at an eighth of TF32's rate.
  const KnownKernel counted = {
      .name = "some_gemm", .time_ns = 2e8, .compute_ns = 1.5e8, .data_type = "fp32"};
  const Summary with_counters = Diagnosed({counted});
  const FindingSummary* finding = Finding(with_counters, "single_precision");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_ns(), 1.75e8, 1);
  const Summary by_name = Diagnosed({{.name = "ampere_sgemm_128x64_tn", .time_ns = 2e8}});
  EXPECT_NE(Finding(by_name, "single_precision"), nullptr);
  KnownKernel bandwidth = counted;
  bandwidth.memory_ns = 1.8e8;
  bandwidth.name = "ampere_sgemm_128x64_tn";
  const Summary bounded = Diagnosed({bandwidth});
  ASSERT_NE(Finding(bounded, "single_precision"), nullptr);
  EXPECT_NEAR(Finding(bounded, "single_precision")->gain_ns(), 0.2e8, 1) << "memory stays";

  KnownKernel tensor = counted;
  tensor.data_type = "tf32";
  EXPECT_EQ(Finding(Diagnosed({tensor}), "single_precision"), nullptr);
  for (const char* name :
       {"cutlass_80_tensorop_s1688gemm_128x64", "sm80_xmma_gemm_tf32tf32_tf32f32",
        "nvjet_tst_128x256", "vectorized_elementwise_kernel"}) {
    EXPECT_EQ(Finding(Diagnosed({{.name = name, .time_ns = 2e8}}), "single_precision"), nullptr)
        << name;
  }
  KnownKernel seldom = counted;
  seldom.time_ns = 0.9e8;
  EXPECT_EQ(Finding(Diagnosed({seldom}), "single_precision"), nullptr);
}

TEST(FindingsTest, UnfusedElementwiseKernels) {
  const KnownKernel elementwise = {
      .name = "vectorized_elementwise_kernel", .time_ns = 2.5e8, .memory_ns = 2e8};
  const Summary summary = Diagnosed({elementwise});
  ASSERT_NE(Finding(summary, "unfused_elementwise"), nullptr);
  EXPECT_NEAR(Finding(summary, "unfused_elementwise")->gain_ns(), 1.25e8, 1);
  KnownKernel fused = elementwise;
  fused.name = "one_kernel_for_all";
  EXPECT_EQ(Finding(Diagnosed({fused}), "unfused_elementwise"), nullptr);
  KnownKernel seldom = elementwise;
  seldom.time_ns = 1.9e8;
  EXPECT_EQ(Finding(Diagnosed({seldom}), "unfused_elementwise"), nullptr);
}

TEST(FindingsTest, MatrixProductsBoundByWeights) {
  const KnownKernel decode = {
      .name = "gemv_gemm", .time_ns = 4e8, .compute_ns = 0.1e8, .memory_ns = 3.5e8};
  ASSERT_NE(Finding(Diagnosed({decode}), "bandwidth_bound_matrix"), nullptr);
  KnownKernel compute = decode;
  compute.compute_ns = 3.6e8;
  EXPECT_EQ(Finding(Diagnosed({compute}), "bandwidth_bound_matrix"), nullptr);
  KnownKernel seldom = decode;
  seldom.time_ns = 2.9e8;
  seldom.memory_ns = 2.5e8;
  EXPECT_EQ(Finding(Diagnosed({seldom}), "bandwidth_bound_matrix"), nullptr);
}

TEST(FindingsTest, LatencyBoundKernels) {
  const KnownKernel waiting = {
      .name = "scan", .time_ns = 3e8, .compute_ns = 0.1e8, .memory_ns = 0.6e8};
  const Summary summary = Diagnosed({waiting});
  ASSERT_NE(Finding(summary, "latency_bound_kernels"), nullptr);
  EXPECT_NEAR(Finding(summary, "latency_bound_kernels")->gain_ns(), 2.4e8, 1);
  KnownKernel near_a_roof = waiting;
  near_a_roof.memory_ns = 0.8e8;
  EXPECT_EQ(Finding(Diagnosed({near_a_roof}), "latency_bound_kernels"), nullptr);
  KnownKernel small = waiting;
  small.grid = 10;
  EXPECT_EQ(Finding(Diagnosed({small}), "latency_bound_kernels"), nullptr)
      << "told once, as a small batch";
}

TEST(FindingsTest, HeatAndNotThePowerCap) {
  const auto diagnosed = [](const char* limit, double clock_hz) {
    return Diagnosed({}, [&](Summary* summary) {
      summary->mutable_devices(0)->add_clock_limits(limit);
      summary->mutable_devices(0)->set_sm_clock_hz(clock_hz);
      summary->mutable_devices(0)->set_sm_clock_maximum_hz(2e9);
    });
  };
  ASSERT_NE(Finding(diagnosed("hardware thermal slowdown", 1.8e9), "thermal_throttling"), nullptr);
  EXPECT_EQ(Finding(diagnosed("power cap", 1.8e9), "thermal_throttling"), nullptr);
  EXPECT_EQ(Finding(diagnosed("hardware thermal slowdown", 1.95e9), "thermal_throttling"), nullptr);
}

TEST(FindingsTest, OneSlowKernel) {
  const auto diagnosed = [](double recoverable_ns, double efficiency) {
    const KnownKernel kernel_time = {.name = "odd_shape_gemm", .time_ns = 5e8};
    return Diagnosed({kernel_time}, [&](Summary* summary) {
      KernelSummary* kernel = summary->add_kernels();
      kernel->set_id(1);
      kernel->set_short_name("odd_shape_gemm");
      kernel->set_recoverable_time_ns(recoverable_ns);
      kernel->set_roofline_efficiency(efficiency);
    });
  };
  ASSERT_NE(Finding(diagnosed(2e8, 0.4), "one_slow_kernel"), nullptr);
  EXPECT_EQ(Finding(diagnosed(2e8, 0.6), "one_slow_kernel"), nullptr);
  EXPECT_EQ(Finding(diagnosed(1e8, 0.4), "one_slow_kernel"), nullptr);
}

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

TEST(FindingsTest, LeakOfMemory) {
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

TEST(FindingsTest, RankThatLags) {
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
  EXPECT_EQ(Finding(WithRanks(kMillisecond, true), "lagging_rank"), nullptr) << "each in turn";
  EXPECT_EQ(Finding(WithRanks(100 * kMicrosecond, false), "lagging_rank"), nullptr) << "1 %";
}

// What a job of PyTorch does before its loop, ten times as long as the loop, and then 40 steps.
void SendStartUpAndSteps(RunBuilder* run, uint64_t step_pause_ns = 0) {
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) names.push_back("kernel_" + std::to_string(i));
  run->SendKernels(names);
  uint64_t now = 0;
  for (int i = 0; i < 20; ++i) {
    run->SendCopy(COPY_HOST_TO_DEVICE, now, kMillisecond, 1 << 20, true);
    now += 100 * kMillisecond;
  }
  for (int step = 0; step < 40; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 5; ++i) {
      launches.push_back(Build::LaunchAt(now, kMillisecond, i));
      now += kMillisecond + kMicrosecond;
    }
    run->SendLaunches(launches);
    if (step == 20) now += step_pause_ns;
  }
}

TEST(FindingsTest, StartUpIsNoIdleTimeOfTheSteps) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendStartUpAndSteps(&run);
  const Summary summary = run.EndRun(3000 * kMillisecond);
  EXPECT_EQ(summary.findings_size(), 0) << summary.findings(0).evidence();
  EXPECT_EQ(summary.window().of(), "steps");
  EXPECT_NEAR(summary.window().start_ns(), 2000.0 * kMillisecond, 1);
  EXPECT_GT(summary.devices(0).gpu_busy_share(), 0.99);
  EXPECT_LT(summary.devices(0).run_gpu_busy_share(), 0.2);
  EXPECT_NEAR(SliceShare(summary, kSliceStartUp), 2.0 / 3, 1e-6);
  EXPECT_GT(SliceShare(summary, kSliceEnd), 0.2);
  EXPECT_EQ(SliceShare(summary, kSliceIdleInput), 0);
  EXPECT_EQ(SliceShare(summary, kSliceCopies), 0);
  ExpectSlicesSumToTheWhole(summary);
}

TEST(FindingsTest, PausesBetweenStepsAreSlicesOfTheirOwn) {
  RunBuilder paused;
  paused.StartRun();
  paused.StartProcess();
  SendStartUpAndSteps(&paused, 900 * kMillisecond);
  const Summary summary = paused.EndRun(4000 * kMillisecond);
  EXPECT_EQ(Finding(summary, "host_work"), nullptr);
  EXPECT_EQ(summary.window().pauses(), 1u);
  EXPECT_NEAR(SliceShare(summary, kSlicePauses), 0.9 / 4, 1e-3);
  EXPECT_GT(summary.devices(0).gpu_busy_share(), 0.99);
  ExpectSlicesSumToTheWhole(summary);

  RunBuilder short_one;  // nine steps long: a slow step, if a rare one
  short_one.StartRun();
  short_one.StartProcess();
  SendStartUpAndSteps(&short_one, 45 * kMillisecond);
  EXPECT_EQ(short_one.EndRun(4000 * kMillisecond).window().pauses(), 0u);
}

TEST(FindingsTest, ALoopThatDoesLittleIsNotWhatTheRunIsAbout) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 20, 10 * kMicrosecond, kMicrosecond);
  run.SendLaunches({Build::LaunchAt(10 * kMillisecond, 500 * kMillisecond, 3)});
  const Summary summary = run.EndRun(1000 * kMillisecond);
  EXPECT_TRUE(summary.has_steps());
  EXPECT_EQ(summary.window().of(), "run");
  EXPECT_GT(SliceShare(summary, kSliceOutside), 0.4);
  ExpectSlicesSumToTheWhole(summary);
}

// 20 steps of five kernels, of which only the first tenth of the run is traced; the same kernels on
// `streams` streams at once.
Summary TracedInAWindow(uint32_t streams) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "e"}, 1, 10);
  uint64_t now = 0;
  for (int step = 0; step < 20; ++step) {
    for (uint32_t stream = 0; stream < streams; ++stream) {
      std::vector<Launch> launches;
      for (uint32_t i = 0; i < 5; ++i) {
        launches.push_back(Build::LaunchAt(now + i * kMillisecond, kMillisecond - 10, i));
      }
      run.SendLaunches(launches, 1, 7 + stream);
    }
    now += 5 * kMillisecond;
  }
  TraceWindow window;
  window.set_flags(1);
  window.set_start_ns(kRunStartNs);
  window.set_end_ns(kRunStartNs + 100 * kMillisecond);
  run.Send(1, FRAME_TRACE_WINDOW, window);
  return run.EndRun(1000 * kMillisecond);
}

TEST(FindingsTest, SharesAreOfTheTimeThatTheyWereCountedIn) {
  for (const uint32_t streams : {1u, 3u}) {
    const Summary summary = TracedInAWindow(streams);
    const FindingSummary* finding = Finding(summary, "small_batch");
    ASSERT_NE(finding, nullptr);
    EXPECT_NEAR(finding->gain_share(), 0.9, 0.01) << "a tenth of the SMs did all";
    EXPECT_NE(finding->evidence().find("take 100.0 %"), std::string::npos) << finding->evidence();
    EXPECT_NEAR(SliceShare(summary, kSliceUntraced), 0.9, 1e-6) << "tracing ended";
    ExpectSlicesSumToTheWhole(summary);
  }
}

// A decode step of 138 kernels of 3.9 µs, as a host launches it that takes `host_ns` a launch, of
// which tracing is a part.
Summary EagerDecode(uint64_t host_ns) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  AgentStatus status;
  status.set_time_ns(kRunStartNs);
  run.Send(1, FRAME_AGENT_STATUS, status);
  std::vector<std::string> names;
  for (int i = 0; i < 138; ++i) names.push_back("kernel_" + std::to_string(i));
  run.SendKernels(names, 1, 1000);
  uint64_t now = 0;
  for (int step = 0; step < 50; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 138; ++i, now += host_ns) {
      launches.push_back(Build::LaunchAt(now, 3'900, i));
    }
    run.SendLaunches(launches);
  }
  return run.EndRun(now);
}

TEST(FindingsTest, PredictsWhatAGraphOfTheSameKernelsGains) {
  constexpr uint64_t kTracingNs = 1'150;
  for (const uint64_t host_ns : {8'000u, 15'000u, 40'000u}) {
    const Summary summary = EagerDecode(host_ns + kTracingNs);
    const FindingSummary* finding = Finding(summary, "launch_bound");
    ASSERT_NE(finding, nullptr) << host_ns;
    const double eager_ns = 138.0 * static_cast<double>(host_ns);
    const double graph_ns = 138.0 * (3'900 + 460);  // nodes as an H200 runs them
    const double gained_ns = eager_ns - graph_ns;
    EXPECT_NEAR(finding->gain_per_step_ns(), gained_ns, 0.25 * gained_ns) << host_ns;
  }
}

TEST(FindingsTest, WhatTracingAddsToGraphsIsNoHostWork) {
  const auto host_work = [](bool told) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    if (told) {
      AgentStatus status;
      status.set_time_ns(kRunStartNs);
      run.Send(1, FRAME_AGENT_STATUS, status);
    }
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) names.push_back("node_" + std::to_string(i));
    run.SendKernels(names, 1, 1000, 100);
    uint64_t now = 0;
    for (uint32_t step = 0; step < 50; ++step) {
      std::vector<Launch> launches;
      for (uint32_t i = 0; i < 100; ++i, now += 5 * kMicrosecond) {
        launches.push_back(Build::LaunchAt(now, 4 * kMicrosecond, i));
      }
      run.SendLaunches(launches, 1, 7, step + 1);
      now += 110 * kMicrosecond;
    }
    return Finding(run.EndRun(now), "host_work") != nullptr;
  };
  EXPECT_FALSE(host_work(true));
  EXPECT_TRUE(host_work(false)) << "by an agent that said nothing, nothing was added";
}

TEST(FindingsTest, AtMostFiveTheMostValuableFirst) {
  FindingFacts facts;
  Summary summary;
  facts.summary = &summary;
  facts.window_ns = 1e9;
  facts.launch_gaps = {.gaps = 1000, .time_ns = 300'000'000};
  facts.readback_gaps = {.gaps = 10, .time_ns = 100'000'000};
  facts.pageable_exposed_ns = 0.5e8;
  facts.pinned_exposed_ns = 0.6e8;
  facts.communication_exposed_ns = 2e8;
  facts.throttled_ns = 0.4e8;
  facts.lagging_process = "rank 1";
  const std::vector<FindingSummary> findings = Diagnose(facts);
  ASSERT_EQ(findings.size(), 5u);
  const char* expected[] = {"launch_bound", "exposed_communication", "synchronization",
                            "exposed_copies", "pageable_copies"};
  for (size_t i = 0; i < findings.size(); ++i) EXPECT_EQ(findings[i].rule(), expected[i]);
}

}  // namespace
}  // namespace utlz
