// A session looks at its job's steps, and plans windows that last for whole ones.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdint>
#include <vector>

#include "collector/clocks.h"
#include "collector/session/step_watch.h"
#include "collector/session/window_planner.h"
#include "tests/support/launch_encoder.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"
#include "tests/unit/session/agent_process.h"
#include "tests/unit/session/session_fixture.h"

namespace utlz {
namespace {

constexpr uint64_t kStepNs = 45 * kMillisecondNs;
constexpr uint32_t kKernels = 4;
constexpr int kSteps = 100;  // the newest are not analysed yet

// Steps of different kernels, one after the other, with a pause before the next step.
std::vector<Launch> StepsFrom(uint64_t begin_ns, uint64_t step_ns) {
  std::vector<Launch> launches;
  for (int step = 0; step < kSteps; ++step) {
    for (uint32_t kernel = 0; kernel < kKernels; ++kernel) {
      const uint64_t start_ns =
          begin_ns + static_cast<uint64_t>(step) * step_ns + kernel * kMillisecondNs * 10;
      launches.push_back({.start_ns = start_ns,
                          .end_ns = start_ns + 8 * kMillisecondNs,
                          .variant = kernel,
                          .correlation = 0});
    }
  }
  return launches;
}

TEST(StepWatchTest, TheMedianIsOfTheStepsThatWereSeen) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  EXPECT_EQ(MedianStepNs(run.intake().Advance()), 0u);
  run.SendKernels({"one", "two", "three", "four"});
  run.SendLaunches(StepsFrom(kRunStartNs + kSecondNs, kStepNs));
  run.EndRun(kSecondNs + kSteps * kStepNs);
  EXPECT_NEAR(static_cast<double>(MedianStepNs(run.intake().Advance())), double{kStepNs},
              double{kMillisecondNs});
}

TEST(StepWatchTest, StepsThatAreKnownAreLookedAtSeldom) {
  StepWatch watch;
  EXPECT_TRUE(watch.Due(kSecondNs));
  watch.Looked(kSecondNs, kMillisecondNs, 0);
  EXPECT_FALSE(watch.Due(kSecondNs + 1));
  EXPECT_TRUE(watch.Due(2 * kSecondNs));
  watch.Looked(2 * kSecondNs, kMillisecondNs, kStepNs);
  EXPECT_EQ(watch.step_ns(), kStepNs);
  EXPECT_FALSE(watch.Due(5 * kSecondNs));
  EXPECT_TRUE(watch.Due(2 * kSecondNs + StepWatch::kPauseOnceKnownNs));
}

class StepWindowsTest : public SessionTest {};

TEST_F(StepWindowsTest, WindowsLastForTheStepsOfTheJob) {
  Start();
  AgentProcess agent(options_.socket_path);
  const auto write = [&](uint16_t type, const auto& message) {
    ASSERT_TRUE(agent.ring().Write(type, message.SerializeAsString()));
  };
  Device device;
  device.set_uuid("0123456789abcdef");
  Strings strings;
  strings.set_first(1);
  Variants variants;
  for (uint32_t i = 0; i < kKernels; ++i) {
    strings.add_values("kernel" + std::to_string(i));
    variants.add_name(i + 1);
    for (const auto add :
         {&Variants::add_grid_x, &Variants::add_grid_y, &Variants::add_grid_z,
          &Variants::add_block_x, &Variants::add_block_y, &Variants::add_block_z}) {
      (variants.*add)(1);
    }
    variants.add_graph_node(0);
  }
  const uint64_t begin_ns = RealtimeNs() - kSteps * kStepNs;
  TraceWindow window;
  window.set_start_ns(begin_ns - kSecondNs);
  DecodedLaunches launches;
  launches.launches = StepsFrom(begin_ns, kStepNs);
  launches.segments.push_back({.launches = static_cast<uint32_t>(launches.launches.size()),
                               .stream = 7,
                               .context = 1,
                               .graph_correlation = 0});
  write(FRAME_PROCESS, SomeProcess());
  write(FRAME_DEVICE, device);
  write(FRAME_TRACE_WINDOW, window);
  write(FRAME_STRINGS, strings);
  write(FRAME_VARIANTS, variants);
  write(FRAME_LAUNCHES, EncodeLaunches(launches));

  const RingControl& control = agent.ring().header().control;
  const auto length_ns = [&] { return control.window_end_ns - control.window_begin_ns; };
  while (control.window_end_ns == 0 || length_ns() == WindowPlanner::kWindowNs) sched_yield();
  EXPECT_NEAR(static_cast<double>(length_ns()), double{kStepNs}, double{kMillisecondNs});
  agent.Kill();
  Finish();
}

}  // namespace
}  // namespace utlz
