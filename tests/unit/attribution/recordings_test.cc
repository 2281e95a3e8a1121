// The engine on recordings of a real GPU, against Nsight Compute's figures for the same launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tools/attribution_check/attributed_launches.h"
#include "tools/attribution_check/attribution_score.h"
#include "tools/attribution_check/capture.h"
#include "tools/attribution_check/reference.h"

namespace utlz {
namespace {

struct Limits {
  const char* capture;
  const char* reference;
  double bytes_error_percent;
  double worst_kernel_error_percent;
  double flops_error_percent;
};

class Recordings : public testing::TestWithParam<Limits> {};

AttributionScore Score(const Limits& limits) {
  const std::string folder = UTLZ_CAPTURES;
  const auto capture = ReadCapture(folder + "/" + limits.capture);
  EXPECT_TRUE(capture.ok()) << capture.status();
  std::vector<std::string> paths;
  for (const char* run : {".1.csv.gz", ".2.csv.gz", ".3.csv.gz"}) {
    paths.push_back(folder + "/" + limits.reference + run);
  }
  const auto reference = ReadReference(paths);
  EXPECT_TRUE(reference.ok()) << reference.status();
  const auto score = ScoreAttribution(*capture, *reference, TensorPeak{});
  EXPECT_TRUE(score.ok()) << score.status();
  return *score;
}

TEST_P(Recordings, ErrorsStayWithinLimits) {
  const Limits& limits = GetParam();
  const AttributionScore score = Score(limits);
  EXPECT_GE(score.matched_time_share, 0.9);
  EXPECT_GE(score.attributed_share.value(), 0.97);
  // What the device did not count cannot be attributed: in the decode recordings it counted a fifth
  // of the writes that the reference has, which are left over from before the reference's step.
  EXPECT_LE(score.dram_bytes_division_error_percent.value(), limits.bytes_error_percent);
  EXPECT_LE(score.dram_bytes_error_percent.value(),
            limits.bytes_error_percent + std::abs(score.counted_bytes_difference_percent.value()));
  EXPECT_LE(score.dram_read_error_percent.value(), limits.bytes_error_percent);
  EXPECT_LE(score.worst_kernel_error_percent, limits.worst_kernel_error_percent);
  EXPECT_LE(score.tensor_flops_error_percent.value(), limits.flops_error_percent);
  EXPECT_LE(score.interval_half_width_percent.value(), 5);
  for (const auto& [group, shift] : score.shift_ns) {
    if (shift) {
      EXPECT_LE(score.shift_uncertainty_ns.at(group), 300) << group;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(H200, Recordings,
                         testing::Values(Limits{"train.5000", "ncu-train", 0.8, 4, 0.8},
                                         Limits{"decode.10000", "ncu-decode", 1, 3, 2},
                                         Limits{"graph.5000", "ncu-decode", 2, 5, 3},
                                         Limits{"graph-outside.5000", "ncu-decode", 2, 5, 3}));

// Sampled in a third of each step, always the same: there constant rates fit better 4 us off.
TEST(RecordingsTogether, WindowsInStepWithTheLoadHaveItsShift) {
  auto capture = ReadCapture(std::string(UTLZ_CAPTURES) + "/graph.5000");
  ASSERT_TRUE(capture.ok()) << capture.status();
  constexpr int64_t kMiddleNs = 290'000;
  constexpr int64_t kLengthNs = 195'000;
  std::vector<int64_t> begins_ns;
  for (const CapturedLaunch& launch : capture->launches) {
    if (capture->keys[launch.key].name.find("256x16_64x6") == std::string::npos) continue;
    begins_ns.push_back(launch.start_ns + kMiddleNs);
  }
  ASSERT_GT(begins_ns.size(), 300u) << "one a step";
  std::erase_if(capture->samples, [&](const CapturedSample& sample) {
    const auto next = std::upper_bound(begins_ns.begin(), begins_ns.end(), sample.start_ns);
    return next == begins_ns.begin() || sample.start_ns >= *(next - 1) + kLengthNs;
  });
  const AttributedLaunches attributed(*capture);
  const std::vector<attribution::ShiftEstimate>& shifts = attributed.solution().shifts;
  EXPECT_EQ(shifts[AttributedLaunches::kDramRead].group, "dram_read");
  EXPECT_NEAR(shifts[AttributedLaunches::kDramRead].used_shift_ns, -1000, 500);
  EXPECT_EQ(shifts[AttributedLaunches::kTensorCycles].group, "sm");
  EXPECT_NEAR(shifts[AttributedLaunches::kTensorCycles].used_shift_ns, 0, 500);
}

// What adds a tenth of an interval in squares widens it by half a percent: nobody would see it.
double Unseen(const AttributionScore& score) {
  return 0.1 * score.interval_half_width_percent.value();
}

// Launches that a sample happens to hold for the most part do no more than others: with half of the
// samples the answer is that of all.
TEST(RecordingsTogether, ThinnedSamplesFavourNoLaunch) {
  const auto reference = ReadReference({std::string(UTLZ_CAPTURES) + "/ncu-decode.1.csv.gz"});
  ASSERT_TRUE(reference.ok()) << reference.status();
  auto capture = ReadCapture(std::string(UTLZ_CAPTURES) + "/decode.10000");
  ASSERT_TRUE(capture.ok()) << capture.status();
  const auto whole = ScoreAttribution(*capture, *reference, TensorPeak{});
  ASSERT_TRUE(whole.ok()) << whole.status();
  size_t index = 0;
  std::erase_if(capture->samples, [&index](const CapturedSample&) { return index++ % 2 == 1; });
  const auto score = ScoreAttribution(*capture, *reference, TensorPeak{});
  ASSERT_TRUE(score.ok()) << score.status();
  EXPECT_NEAR(*score->tensor_flops_error_percent, *whole->tensor_flops_error_percent,
              Unseen(*whole));
  EXPECT_NEAR(*score->counted_read_difference_percent, *whole->counted_read_difference_percent,
              Unseen(*whole));
}

// Whatever lies between the clocks is found, though writes, of which these loads make few, would
// have it nearer to what is expected.
TEST(RecordingsTogether, ClocksThatLieFarApartAreFound) {
  const auto reference = ReadReference({std::string(UTLZ_CAPTURES) + "/ncu-decode.1.csv.gz"});
  ASSERT_TRUE(reference.ok()) << reference.status();
  const auto recorded = ReadCapture(std::string(UTLZ_CAPTURES) + "/graph.5000");
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  const auto plain = ScoreAttribution(*recorded, *reference, TensorPeak{});
  ASSERT_TRUE(plain.ok()) << plain.status();
  for (const int64_t later_ns : {-9000, -5000, 5000}) {
    Capture capture = *recorded;
    for (CapturedLaunch& launch : capture.launches) {
      launch.start_ns += later_ns;
      launch.end_ns += later_ns;
    }
    const auto score = ScoreAttribution(capture, *reference, TensorPeak{});
    ASSERT_TRUE(score.ok()) << score.status();
    EXPECT_NEAR(score->used_shift_ns.at("sm"), static_cast<double>(-later_ns), 300) << later_ns;
    EXPECT_NEAR(*score->dram_bytes_division_error_percent,
                *plain->dram_bytes_division_error_percent, Unseen(*plain))
        << later_ns;
  }
}

TEST(RecordingsTogether, IntervalsHoldTheReference) {
  size_t kernels = 0;
  size_t held = 0;
  for (const Limits& limits :
       {Limits{"train.5000", "ncu-train", 0, 0, 0}, Limits{"decode.10000", "ncu-decode", 0, 0, 0},
        Limits{"graph.5000", "ncu-decode", 0, 0, 0}}) {
    for (const KernelScore& kernel : Score(limits).kernels) {
      if (kernel.mean_duration_ns <= 3000) continue;
      ++kernels;
      held += std::abs(kernel.bytes - kernel.reference_bytes) <= kernel.half_width_bytes ? 1 : 0;
    }
  }
  EXPECT_GE(static_cast<double>(held), 0.9 * static_cast<double>(kernels));
}

}  // namespace
}  // namespace utlz
