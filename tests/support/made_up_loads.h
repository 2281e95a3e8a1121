// Loads that tests of the summary share, and how they look into it.
#ifndef UTLZ_TESTS_SUPPORT_MADE_UP_LOADS_H_
#define UTLZ_TESTS_SUPPORT_MADE_UP_LOADS_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/run_builder.h"

namespace utlz {

inline constexpr uint64_t kMicrosecond = 1000;
inline constexpr uint64_t kMillisecond = 1'000'000;

inline double SliceShare(const Summary& summary, const std::string& name) {
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name() == name) return slice.share();
  }
  return 0;
}

// What a rule found, at its threshold or above.
inline const FindingSummary* Finding(const Summary& summary, const std::string& rule) {
  for (const FindingSummary& finding : summary.findings()) {
    if (finding.rule() == rule && !finding.below_threshold()) return &finding;
  }
  return nullptr;
}

// What it found below that, or as a remark.
inline const FindingSummary* FindingBelow(const Summary& summary, const std::string& rule) {
  for (const FindingSummary& finding : summary.findings()) {
    if (finding.rule() == rule && finding.below_threshold()) return &finding;
  }
  return nullptr;
}

// Of a step, by the waterfall.
inline double IdleSlicesNs(const Summary& summary) {
  double sum_ns = 0;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name().rfind("idle", 0) == 0) sum_ns += slice.time_per_step_ns();
  }
  return sum_ns;
}

inline void ExpectSlicesSumToTheWhole(const Summary& summary) {
  double sum = 0;
  double window_share = 0;
  double step_ns = 0;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    EXPECT_GT(slice.time_ns(), 0) << slice.name();
    EXPECT_FALSE(slice.meaning().empty()) << slice.name();
    sum += slice.time_ns();
    window_share += slice.steady_state_share();
    step_ns += slice.time_per_step_ns();
  }
  EXPECT_NEAR(window_share, 1, 1e-6) << "of the steady part";
  if (summary.steady_state().scope() == "steps") {
    EXPECT_NEAR(step_ns, summary.steps().time_mean_ns(), 1e-6 * summary.steps().time_mean_ns());
  }
  EXPECT_NEAR(sum, summary.waterfall().total_ns(), 1e-6 * summary.waterfall().total_ns());
}

// "kernel_0" and so on.
inline std::vector<std::string> KernelNames(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("kernel_" + std::to_string(i));
  return names;
}

// A loop of ten kernels a step, each of `busy_ns`, `gap_ns` apart.
inline void SendLoop(RunBuilder* run, int steps, uint64_t busy_ns, uint64_t gap_ns,
                     uint64_t pause_ns = 0) {
  run->SendKernels(KernelNames(10));
  uint64_t now = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 10; ++i) {
      launches.push_back(RunBuilder::LaunchAt(now, busy_ns, i));
      now += busy_ns + gap_ns;
    }
    run->SendLaunches(launches);
    now += pause_ns;
  }
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_MADE_UP_LOADS_H_
