// Every rule of the diagnosis: a load that makes it speak, and one that nearly does. Those that
// speak of gaps and copies are here, as is their order.
#include "collector/diagnosis/findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "collector/diagnosis/finding_facts.h"
#include "collector/waterfall_slices.h"
#include "tests/support/made_up_loads.h"

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

TEST(FindingsTest, WithAPriceAGainHasAnAmountAMonth) {
  SummaryOptions options;
  options.work.set_price_per_hour(2);
  RunBuilder run(options);
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 20, 5 * kMicrosecond, 20 * kMicrosecond);
  const Summary summary = run.EndRun(10 * kMillisecond);
  const FindingSummary* finding = Finding(summary, "launch_bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_per_month(), finding->gain_share() * 2 * 730, 1e-6);
  EXPECT_GT(finding->gain_per_month(), 1000);
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

// Requests, each with an input and an answer; `wait_ns` says how long the GPU waits for the next.
Summary WithRequests(const std::function<uint64_t(uint64_t)>& wait_ns, const char* kernel) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", kernel});
  uint64_t now = 0;
  for (uint64_t request = 0; request < 40; ++request) {
    run.SendCopy(COPY_HOST_TO_DEVICE, now, 2 * kMicrosecond, 1000);
    now += 3 * kMicrosecond;
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 5; ++i) {
      launches.push_back(Build::LaunchAt(now, kMillisecond, i));
      now += kMillisecond + kMicrosecond;
    }
    run.SendLaunches(launches);
    run.SendCopy(COPY_DEVICE_TO_HOST, now, 2 * kMicrosecond, 4);
    now += 2 * kMicrosecond + wait_ns(request);
  }
  return run.EndRun(now);
}

TEST(FindingsTest, WaitingForRequestsIsNoFault) {
  const auto at_random = [](uint64_t request) {
    return request * request * 7919 % 17 * kMillisecond + 200 * kMicrosecond;
  };
  const Summary server = WithRequests(at_random, "e");
  EXPECT_EQ(Finding(server, "synchronization"), nullptr);
  EXPECT_EQ(Finding(server, "input_pipeline"), nullptr);
  EXPECT_NE(server.verdict().find("for requests or the host"), std::string::npos)
      << server.verdict();
  EXPECT_EQ(server.problem(), "idle between requests");
  // As long each time: the program itself makes the GPU wait.
  const auto always = [](uint64_t) { return 8 * kMillisecond; };
  const Summary regular = WithRequests(always, "e");
  EXPECT_NE(Finding(regular, "synchronization"), nullptr);
  EXPECT_EQ(regular.problem(), "host-bound");
  EXPECT_NE(Finding(WithRequests(at_random, "layer_norm_backward_kernel"), "synchronization"),
            nullptr)
      << "a training has no requests";
  EXPECT_NE(Finding(WithRequests(at_random, "loop_add_fusion_18"), "synchronization"), nullptr)
      << "nobody knows whether XLA's kernels train";
}

struct BeforeEachStep {
  CopyKind kind = COPY_HOST_TO_DEVICE;
  uint64_t copy_ns = 1000;
  bool pageable = false;
};

// Twenty steps of five kernels, each with a copy before it and a wait after it.
Summary WithCopies(const BeforeEachStep& copy, uint64_t wait_ns = 0) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "e"});
  uint64_t now = 0;
  for (int step = 0; step < 20; ++step) {
    run.SendCopy(copy.kind, now, copy.copy_ns, 1000, copy.pageable);
    now += copy.copy_ns + kMicrosecond;
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 5; ++i) {
      launches.push_back(Build::LaunchAt(now, kMillisecond, i));
      now += kMillisecond + kMicrosecond;
    }
    run.SendLaunches(launches);
    now += wait_ns;
  }
  return run.EndRun(200 * kMillisecond);
}

TEST(FindingsTest, SlowInputAndUnpinnedCopies) {
  const auto summary_of = [](uint64_t wait_ns, bool pageable, uint64_t copy_ns) {
    return WithCopies({.copy_ns = copy_ns, .pageable = pageable}, wait_ns);
  };
  EXPECT_NE(Finding(summary_of(kMillisecond, false, 1000), "input_pipeline"), nullptr);
  EXPECT_EQ(Finding(summary_of(50 * kMicrosecond, false, 1000), "input_pipeline"), nullptr);
  EXPECT_NE(Finding(summary_of(0, true, kMillisecond), "pageable_copies"), nullptr);
  EXPECT_EQ(Finding(summary_of(0, false, kMillisecond), "pageable_copies"), nullptr);
  EXPECT_NE(Finding(summary_of(0, false, kMillisecond), "exposed_copies"), nullptr);
  EXPECT_EQ(Finding(summary_of(0, false, 10 * kMicrosecond), "exposed_copies"), nullptr);
}

TEST(FindingsTest, CopiesBetweenGpus) {
  const auto summary_of = [](CopyKind kind, uint64_t copy_ns) {
    return WithCopies({.kind = kind, .copy_ns = copy_ns});
  };
  EXPECT_NE(Finding(summary_of(COPY_PEER_TO_PEER, kMillisecond), "peer_copies"), nullptr);
  EXPECT_EQ(Finding(summary_of(COPY_PEER_TO_PEER, 100 * kMicrosecond), "peer_copies"), nullptr);
  EXPECT_EQ(Finding(summary_of(COPY_DEVICE_TO_DEVICE, kMillisecond), "peer_copies"), nullptr)
      << "on one GPU";
}

// Every fourth step ends with a copy to the host, and a wait that is twice as long.
TEST(FindingsTest, ACheckpointIsOneFinding) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b"});
  uint64_t now = 0;
  for (uint32_t step = 0; step < 40; ++step) {
    run.SendLaunches({Build::LaunchAt(now, kMillisecond, 0),
                      Build::LaunchAt(now + kMillisecond + kMicrosecond, kMillisecond, 1)});
    now += 2 * kMillisecond + kMicrosecond;
    if (step % 4 == 3) {
      run.SendCopy(COPY_DEVICE_TO_HOST, now, kMillisecond, 1000, true);
      now += 3 * kMillisecond;
    }
  }
  const Summary summary = run.EndRun(now);
  const FindingSummary* finding = Finding(summary, "synchronization");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_share(), 3.0 / 11, 0.04);
  EXPECT_EQ(Finding(summary, "pageable_copies"), nullptr);
}

// Steps of six kernels of 1 ms, and the GPU idle for `pause_ns` after each kernel of which
// `pauses(step, kernel)` says so.
Summary WithPauses(uint64_t pause_ns, const std::function<bool(uint32_t, uint32_t)>& pauses,
                   bool steps = true, uint32_t count = 20,
                   const std::vector<std::string>& names = {"a", "b", "c", "d", "e", "f"}) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(names);
  uint64_t now = 0;
  for (uint32_t step = 0; step < count; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 6; ++i) {
      // Without steps: another order each time, as requests would come.
      const uint32_t kernel = steps ? i : (i * (step % 5 + 1) + step * step) % 6;
      launches.push_back(Build::LaunchAt(now, kMillisecond, kernel));
      now += kMillisecond + kMicrosecond + (pauses(step, i) ? pause_ns : 0);
    }
    run.SendLaunches(launches);
  }
  return run.EndRun(std::max<uint64_t>(200 * kMillisecond, now));
}

TEST(FindingsTest, HostWorkInsideSteps) {
  const auto twice = [](uint32_t, uint32_t kernel) { return kernel == 1 || kernel == 4; };
  EXPECT_NE(Finding(WithPauses(500 * kMicrosecond, twice), "host_work"), nullptr);
  EXPECT_EQ(Finding(WithPauses(500 * kMicrosecond, twice), "gaps_between_steps"), nullptr);
  EXPECT_EQ(Finding(WithPauses(250 * kMicrosecond, twice), "host_work"), nullptr);
  const Summary irregular = WithPauses(kMillisecond, twice, false);
  EXPECT_FALSE(irregular.has_steps());
  EXPECT_EQ(Finding(irregular, "host_work"), nullptr) << "it may wait for requests";
}

TEST(FindingsTest, GapsBetweenSteps) {
  const auto once = [](uint32_t, uint32_t kernel) { return kernel == 5; };
  const Summary summary = WithPauses(kMillisecond, once);
  const FindingSummary* finding = Finding(summary, "gaps_between_steps");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->evidence().find("each, from f to a"), std::string::npos)
      << finding->evidence();
  EXPECT_EQ(Finding(summary, "host_work"), nullptr) << "told once";
  EXPECT_EQ(Finding(WithPauses(500 * kMicrosecond, once), "gaps_between_steps"), nullptr);
}

// Two of the three stand between the same two functions.
TEST(FindingsTest, OfEqualGapsInAStepNoneIsBetweenSteps) {
  const auto thrice = [](uint32_t, uint32_t kernel) { return kernel % 2 == 0; };
  const std::vector<std::string> names = {"a", "b", "a", "b", "e", "f"};
  const Summary summary = WithPauses(kMillisecond, thrice, true, 20, names);
  EXPECT_EQ(Finding(summary, "gaps_between_steps"), nullptr);
  const FindingSummary* finding = Finding(summary, "host_work");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_share(), 1.0 / 3, 0.02);
}

TEST(FindingsTest, FirstCalls) {
  const auto early = [](uint32_t step, uint32_t kernel) {
    return step >= 2 && step <= 5 && kernel == 2;
  };
  // Two usual steps come before the four: steps that are slow from the first on are the warm-up.
  const Summary summary = WithPauses(30 * kMillisecond, early, true, 100);
  const FindingSummary* finding = Finding(summary, "first_calls");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->evidence().find("directly before d"), std::string::npos)
      << finding->evidence();
  EXPECT_EQ(Finding(WithPauses(kMillisecond, early, true, 100), "first_calls"), nullptr);
}

TEST(FindingsTest, ExposedCommunication) {
  const auto summary_with_overlap = [](bool overlap) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    run.SendKernels({"gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                     "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL"});
    for (uint32_t i = 0; i < 10; ++i) {
      run.SendLaunches({Build::LaunchAt(i * 2 * kMillisecond, kMillisecond, 0)}, 1, 7);
      run.SendLaunches({Build::LaunchAt(i * 2 * kMillisecond + (overlap ? 0 : kMillisecond),
                                        kMillisecond, 1 + i % 2)},
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
  EXPECT_EQ(exposed.communication(0).exposed_ns(), 10 * kMillisecond) << "of both its kernels";
  EXPECT_FALSE(exposed.processes(0).has_collectives_matched()) << "there is one rank";
  ExpectSlicesSumToTheWhole(exposed);
  const Summary hidden = summary_with_overlap(true);
  EXPECT_EQ(Finding(hidden, "exposed_communication"), nullptr);
  EXPECT_EQ(hidden.devices(0).exposed_communication_ns(), 0u);
  EXPECT_EQ(hidden.communication(0).exposed_ns(), 0u);
}

TEST(FindingsTest, SilentWhenNothingIsWrong) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 20, 200 * kMicrosecond, kMicrosecond);
  EXPECT_EQ(run.EndRun(50 * kMillisecond).findings_size(), 0);
}

TEST(FindingsTest, AtMostFiveTheMostValuableFirst) {
  FindingFacts facts;
  Summary summary;
  facts.summary = &summary;
  facts.window_ns = 1e9;
  facts.gaps.launch = {.gaps = 1000, .time_ns = 300'000'000};
  facts.gaps.readback = {.gaps = 10, .time_ns = 100'000'000};
  facts.copies.pageable_exposed_ns = 0.5e8;
  facts.copies.pinned_exposed_ns = 0.6e8;
  facts.communication.exposed_ns = 2e8;
  facts.throttled_ns = 0.4e8;
  facts.communication.lagging_process = "rank 1";
  const std::vector<FindingSummary> findings = Diagnose(facts);
  ASSERT_EQ(findings.size(), 5u);
  const char* expected[] = {"launch_bound", "exposed_communication", "synchronization",
                            "exposed_copies", "pageable_copies"};
  for (size_t i = 0; i < findings.size(); ++i) EXPECT_EQ(findings[i].rule(), expected[i]);
}

}  // namespace
}  // namespace utlz
