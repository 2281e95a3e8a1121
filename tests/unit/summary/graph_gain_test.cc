// What CUDA graphs would gain, predicted from an eager run, and what tracing adds to either.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

using Build = RunBuilder;

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

TEST(GraphGainTest, PredictsWhatAGraphOfTheSameKernelsGains) {
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

TEST(GraphGainTest, WhatTracingAddsToGraphsIsNoGapOfTheHost) {
  const auto has_gaps = [](bool told) {
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
    return Finding(run.EndRun(now), "gaps_between_steps") != nullptr;
  };
  EXPECT_FALSE(has_gaps(true));
  EXPECT_TRUE(has_gaps(false)) << "by an agent that said nothing, nothing was added";
}

}  // namespace
}  // namespace utlz
