#include "collector/sampler/counters/pm_sampler.h"

#include <gtest/gtest.h>

#include "tests/unit/sampler/fake_cupti.h"

namespace utlz {
namespace {

struct Sample {
  uint64_t start_ns;
  uint64_t end_ns;
  std::vector<double> values;
};

class PmSamplerTest : public testing::Test {
 protected:
  PmSamplerTest() {
    fake_.metrics = {{"bytes.sum", 640}, {"cycles.max", 17'000}};
    fake_.metrics["cycles.max.peak_sustained"] = 1;
  }

  std::unique_ptr<PmSampler> Create(const PmSamplerOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<PmSampler>> sampler = PmSampler::Create(table_, options);
    EXPECT_TRUE(sampler.ok()) << sampler.status();
    return sampler.ok() ? *std::move(sampler) : nullptr;
  }

  absl::StatusOr<WindowResult> Window(PmSampler* sampler) {
    EXPECT_TRUE(sampler->Start().ok());
    if (absl::Status status = sampler->Stop(); !status.ok()) return status;
    return sampler->Read([&](uint64_t start_ns, uint64_t end_ns, std::span<const double> values) {
      samples_.push_back({start_ns, end_ns, {values.begin(), values.end()}});
    });
  }

  FakeCupti fake_;
  CuptiTable table_ = fake_.table();
  const SelectedMetrics metrics_ = {{METRIC_DRAM_READ_BYTES, "bytes.sum", "byte", 32},
                                    {METRIC_SM_CYCLES_ELAPSED, "cycles.max", "cycle", 1}};
  std::vector<Sample> samples_;
};

TEST_F(PmSamplerTest, HandsOnEverySampleButTheFirst) {
  auto sampler = Create();
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  const absl::StatusOr<WindowResult> result = Window(sampler.get());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->samples, 9u);
  EXPECT_EQ(result->lost, 0u);
  ASSERT_EQ(samples_.size(), 9u);
  EXPECT_EQ(samples_[0].start_ns, 1'010'000u);
  EXPECT_EQ(samples_[8].end_ns, 1'100'000u);
  EXPECT_EQ(samples_[3].values, (std::vector<double>{640, 17'000}));
}

TEST_F(PmSamplerTest, CountsASampleThatIsMissing) {
  auto sampler = Create();
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  fake_.gap_after_sample = 4;
  const absl::StatusOr<WindowResult> result = Window(sampler.get());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->lost, 1u);
}

TEST_F(PmSamplerTest, AfterAHardwareOverflowMustBeConfiguredAnew) {
  auto sampler = Create();
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  fake_.decode_result = cupti::kOutOfMemory;
  const absl::StatusOr<WindowResult> result = Window(sampler.get());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->overflow);
  EXPECT_TRUE(samples_.empty());
  EXPECT_FALSE(sampler->configured());
  EXPECT_FALSE(fake_.enabled);
  fake_.decode_result = 0;
  EXPECT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  EXPECT_TRUE(Window(sampler.get()).ok());
  EXPECT_EQ(samples_.size(), 9u);
}

TEST_F(PmSamplerTest, AFullImageIsAnOverflowThatCostsNoConfiguring) {
  auto sampler = Create();
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  fake_.fill_image = true;
  const absl::StatusOr<WindowResult> result = Window(sampler.get());
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->overflow);
  EXPECT_EQ(samples_.size(), 9u);
  EXPECT_TRUE(sampler->configured());
}

// CUPTI reads a configuration image after it was replaced.
TEST_F(PmSamplerTest, KeepsReplacedConfigurationsAlive) {
  auto sampler = Create();
  const SelectedMetrics other = {metrics_[1]};
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  ASSERT_TRUE(sampler->Configure(other, kUsualIntervalNs).ok());
  EXPECT_EQ(fake_.hosts_alive, 2);
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  EXPECT_EQ(fake_.hosts_alive, 2);
  ASSERT_TRUE(Window(sampler.get()).ok());
  EXPECT_EQ(samples_[0].values.size(), 2u);
}

TEST_F(PmSamplerTest, SamplesAfterTheSetWasChangedAndChangedBack) {
  auto sampler = Create();
  const SelectedMetrics other = {metrics_[1]};
  for (const SelectedMetrics& metrics : {metrics_, other, metrics_}) {
    samples_.clear();
    ASSERT_TRUE(sampler->Configure(metrics, kUsualIntervalNs).ok());
    ASSERT_TRUE(Window(sampler.get()).ok());
    ASSERT_EQ(samples_.size(), 9u);
    EXPECT_EQ(samples_[0].values.size(), metrics.size());
  }
}

TEST_F(PmSamplerTest, TheSameMetricsAreSampledInEachIntervalThatIsAskedFor) {
  auto sampler = Create();
  for (const uint64_t interval_ns : {10'000u, 11'500u, 10'000u}) {
    ASSERT_TRUE(sampler->Configure(metrics_, interval_ns).ok());
    EXPECT_EQ(fake_.interval_ns, interval_ns);
    ASSERT_TRUE(Window(sampler.get()).ok());
  }
}

TEST_F(PmSamplerTest, SamplesAgainAfterGivingTheCountersUp) {
  auto sampler = Create();
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  ASSERT_TRUE(Window(sampler.get()).ok());
  sampler->Disable();
  EXPECT_FALSE(fake_.enabled);
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  const absl::StatusOr<WindowResult> result = Window(sampler.get());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(samples_.size(), 18u);
}

TEST_F(PmSamplerTest, ReportsWhoeverHasTheCounters) {
  auto sampler = Create();
  fake_.enable_result = cupti::kHardwareBusy;
  EXPECT_TRUE(absl::IsUnavailable(sampler->Configure(metrics_, kUsualIntervalNs)));
  fake_.enable_result = 0;
  fake_.set_config_result = cupti::kHardwareBusy;
  EXPECT_TRUE(absl::IsUnavailable(sampler->Configure(metrics_, kUsualIntervalNs)));
  EXPECT_FALSE(fake_.enabled);
  EXPECT_FALSE(sampler->configured());
}

TEST_F(PmSamplerTest, ReportsMissingPermission) {
  fake_.availability_result = cupti::kInsufficientPrivileges;
  EXPECT_TRUE(absl::IsPermissionDenied(PmSampler::Create(table_, {}).status()));
}

TEST_F(PmSamplerTest, SamplesBySystemClockWhereTimeIsNotSupported) {
  auto hopper = Create();
  ASSERT_TRUE(hopper->Configure(metrics_, kUsualIntervalNs).ok());
  EXPECT_EQ(fake_.trigger_mode, cupti::kTriggerTime);
  EXPECT_EQ(fake_.interval_ns, 10'000u);
  hopper->Disable();
  fake_.chip = "GA100";
  auto ampere = Create();
  ASSERT_TRUE(ampere->Configure(metrics_, kUsualIntervalNs).ok());
  EXPECT_EQ(fake_.trigger_mode, cupti::kTriggerSysclk);
  EXPECT_EQ(fake_.interval_ns, 14'000u);
}

TEST_F(PmSamplerTest, TheImageBoundsTheWindow) {
  fake_.image_bytes_per_sample = 1000;
  auto sampler = Create({.image_bytes = 500'000});
  EXPECT_EQ(sampler->longest_window_ns(), 0u);
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  EXPECT_EQ(fake_.image_samples, 500u);
  EXPECT_EQ(sampler->longest_window_ns(), 4'000'000u);
}

TEST_F(PmSamplerTest, EvaluatesConstantsOfTheChip) {
  auto sampler = Create();
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  ASSERT_TRUE(Window(sampler.get()).ok());
  EXPECT_EQ(sampler->EvaluateConstant("cycles.max.peak_sustained"), 1);
  EXPECT_EQ(sampler->EvaluateConstant("bytes.sum.peak_sustained"), std::nullopt);
}

TEST_F(PmSamplerTest, GivesTheCountersUpAtItsEnd) {
  auto sampler = Create();
  ASSERT_TRUE(sampler->Configure(metrics_, kUsualIntervalNs).ok());
  sampler.reset();
  EXPECT_FALSE(fake_.enabled);
  EXPECT_EQ(fake_.hosts_alive, 0);
}

}  // namespace
}  // namespace utlz
