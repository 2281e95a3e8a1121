#include "tools/top/sampled_gpus.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/nanoseconds.h"

namespace utlz::top {
namespace {

constexpr char kUuidText[] = "GPU-41414141-4141-4141-4141-414141414141";

class SampledGpusTest : public ::testing::Test {
 protected:
  template <typename Message>
  void Send(uint16_t type, Message message) {
    message.set_device_uuid(std::string(16, 'A'));
    gpus_.Consume(type, message.SerializeAsString());
  }

  void SendSet() {
    MetricSet set;
    set.set_id(1);
    set.set_interval_ns(1000);
    const auto metric = [&set](MetricRole role, const char* unit) {
      MetricSet::Metric* one = set.add_metric();
      one->set_role(role);
      one->set_unit(unit);
      one->set_resolution(1);
      one->set_peak_per_cycle(1);
    };
    metric(METRIC_SM_CYCLES_ELAPSED, "cycle");
    metric(METRIC_SM_CYCLES_ACTIVE, "cycle");
    metric(METRIC_DRAM_READ_BYTES, "byte");
    metric(METRIC_DRAM_WRITE_BYTES, "byte");
    Send(FRAME_METRIC_SET, set);
    DevicePeaks peaks;
    peaks.set_dram_bytes_per_second(1e9);
    Send(FRAME_DEVICE_PEAKS, peaks);
  }

  void SendSample(int64_t elapsed, int64_t active, int64_t bytes) {
    SampleBatch batch;
    batch.set_metric_set(1);
    batch.set_base_ns(5);
    batch.set_samples(1);
    batch.set_interval_ns(1000);
    for (const int64_t value : {elapsed, active, bytes, bytes}) {
      batch.add_column()->add_delta(value);
    }
    Send(FRAME_SAMPLES, batch);
  }

  GpuSnapshot Complete(uint64_t now_ns) {
    GpuSnapshot gpu;
    gpu.uuid = kUuidText;
    gpus_.Complete(now_ns, &gpu);
    return gpu;
  }

  SampledGpus gpus_;
};

TEST_F(SampledGpusTest, SamplesBecomeSharesOfThePeaks) {
  SendSet();
  SendSample(1000, 400, 100);
  const GpuSnapshot gpu = Complete(kSecondNs);
  EXPECT_EQ(gpu.source, ComputeSource::kSampler);
  EXPECT_NEAR(gpu.sm_active_percent.value_or(-1), 40, 1e-9);
  // 200 bytes in a microsecond, of 1000.
  EXPECT_NEAR(gpu.dram_active_percent.value_or(-1), 20, 1e-9);
  EXPECT_FALSE(gpu.tensor_active_percent);
  EXPECT_FALSE(gpu.compute_percent);
}

TEST_F(SampledGpusTest, ValuesStayUntilTheyAreStale) {
  SendSet();
  SendSample(1000, 400, 100);
  Complete(kSecondNs);
  EXPECT_EQ(Complete(2 * kSecondNs).source, ComputeSource::kSampler);
  EXPECT_EQ(Complete(2 * kSecondNs + SampledGpus::kStaleNs).source, ComputeSource::kNvml);
}

TEST_F(SampledGpusTest, SaysWhyThereIsNothing) {
  SamplerStatus status;
  status.set_reason("no permission\x1b");
  Send(FRAME_SAMPLER_STATUS, status);
  const GpuSnapshot gpu = Complete(kSecondNs);
  EXPECT_EQ(gpu.source, ComputeSource::kNvml);
  EXPECT_EQ(gpu.source_reason, "no permission\\x1b");
}

TEST_F(SampledGpusTest, GpmIsLeftAsItIs) {
  SendSet();
  SendSample(1000, 400, 100);
  GpuSnapshot gpu;
  gpu.uuid = kUuidText;
  gpu.source = ComputeSource::kGpm;
  gpu.sm_active_percent = 7;
  gpus_.Complete(kSecondNs, &gpu);
  EXPECT_EQ(gpu.sm_active_percent, 7);
}

TEST_F(SampledGpusTest, RubbishChangesNothing) {
  gpus_.Consume(FRAME_SAMPLES, "\xff\xff");
  gpus_.Consume(FRAME_METRIC_SET, "rubbish");
  SendSample(1, 1, 1);  // of a set that nobody named
  EXPECT_EQ(Complete(kSecondNs).source, ComputeSource::kNvml);
}

}  // namespace
}  // namespace utlz::top
