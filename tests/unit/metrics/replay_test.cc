// A recorded run, as it came: snapshots are made while its frames are fed to the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "collector/metrics/run_metrics.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/nanoseconds.h"
#include "tests/unit/metrics/sum_of_metric.h"

namespace utlz {
namespace {

constexpr uint64_t kRenewalNs = 4 * kSecondNs;

std::string SeriesOf(size_t metric, const MetricSample& sample) {
  std::string series = DescriptionOf(static_cast<Metric>(metric)).name;
  for (const auto& [name, value] : sample.labels) series += "," + std::string(name) + "=" + value;
  return series;
}

// Counters by series; a series that shrinks or vanishes is a failure.
class Counters {
 public:
  void Take(const MetricsSnapshot& snapshot) {
    std::map<std::string, double> now;
    for (size_t i = 0; i < kMetrics; ++i) {
      if (DescriptionOf(static_cast<Metric>(i)).type != MetricType::kCounter) continue;
      for (const MetricSample& sample : snapshot.samples[i]) {
        EXPECT_TRUE(now.emplace(SeriesOf(i, sample), sample.value).second)
            << SeriesOf(i, sample) << " stands there twice";
      }
    }
    for (const auto& [series, before] : last_) {
      ASSERT_TRUE(now.contains(series)) << series;
      EXPECT_GE(now[series], before) << series;
    }
    last_ = std::move(now);
  }

 private:
  std::map<std::string, double> last_;
};

TEST(Replay, CountersGrowAndEndWhereTheReportDoes) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(UTLZ_RECORDING);
  ASSERT_TRUE(reader.ok()) << reader.status();
  RunIntake intake;
  uint64_t cpu_ns = 0;
  intake.MeasureBy([&cpu_ns] { return cpu_ns += 1'000'000; });
  RunMetrics metrics;
  Counters counters;
  uint64_t next_ns = 0;
  uint64_t renewal_ns = 0;
  int snapshots = 0;
  double highest_hfu = 0;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY) continue;
    intake.Consume(frame.source, frame.type, frame.payload);
    const uint64_t now_ns = intake.state().NewestNs();
    if (now_ns < next_ns) continue;
    next_ns = now_ns + kSecondNs;
    const RunState& state = intake.Advance();
    if (now_ns >= renewal_ns) {
      metrics.RenewWorth(state);
      renewal_ns = now_ns + kRenewalNs;
    }
    metrics.RenewSteps(state);
    const MetricsSnapshot snapshot = metrics.Take(state, {});
    counters.Take(snapshot);
    ++snapshots;
    for (const MetricSample& hfu : snapshot.Of(Metric::kHfu)) {
      EXPECT_GE(hfu.value, 0);
      EXPECT_LE(hfu.value, 1);
      highest_hfu = std::max(highest_hfu, hfu.value);
    }
  }
  intake.EndOfInput();
  metrics.RenewWorth(intake.Advance());
  metrics.RenewSteps(intake.Advance());
  const MetricsSnapshot last = metrics.Take(intake.Advance(), {});
  counters.Take(last);
  const Summary summary = Summarize(intake.Advance());
  ASSERT_EQ(summary.devices_size(), 1);
  const DeviceSummary& device = summary.devices(0);
  EXPECT_GT(snapshots, 10);
  // What was counted early rests on fewer samples.
  EXPECT_NEAR(SumOf(last, Metric::kFlops) / device.flops(), 1, 0.1);
  EXPECT_NEAR((SumOf(last, Metric::kDramReadBytes) + SumOf(last, Metric::kDramWriteBytes)) /
                  (device.dram_read_bytes() + device.dram_write_bytes()),
              1, 0.1);
  EXPECT_GT(SumOf(last, Metric::kAttributionCpuSeconds), 0);
  double launches = 0;
  for (const KernelSummary& kernel : summary.kernels()) {
    launches += static_cast<double>(kernel.launches());
  }
  EXPECT_NEAR(SumOf(last, Metric::kKernelLaunches) / launches, 1, 0.02);
  EXPECT_NEAR(highest_hfu / device.hfu(), 1, 0.2);
  EXPECT_NEAR(SumOf(last, Metric::kSteps) / summary.steps().levels(0).count(), 1, 0.1);
}

}  // namespace
}  // namespace utlz
