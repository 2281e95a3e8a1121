#include "tools/top/gpu_reader.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"
#include "tests/unit/top/fake_gpu.h"

namespace utlz::top {
namespace {

TEST(GpuReaderTest, LeavesWhatNvmlDoesNotSayUnknown) {
  const NvmlTable table = FakeGpu::Table();
  GpuReader reader(table, 3, nullptr);
  const GpuSnapshot gpu = reader.Read(kSecondNs);
  EXPECT_EQ(gpu.index, 3u);
  EXPECT_EQ(gpu.gpu_util_percent, 80);
  EXPECT_EQ(gpu.power_watts, 690);
  EXPECT_EQ(gpu.memory_total_bytes, 5000u);
  EXPECT_FALSE(gpu.temperature_celsius);  // an error
  EXPECT_FALSE(gpu.sm_clock_mhz);         // no such function
  EXPECT_TRUE(gpu.name.empty());
  ASSERT_TRUE(gpu.processes);
  EXPECT_FALSE(gpu.processes->at(0).memory_bytes);  // all ones
}

TEST(GpuReaderTest, GpmSpeaksFromTheSecondReadingOn) {
  const NvmlTable table = FakeGpu::Table();
  {
    GpuReader reader(table, 0, nullptr);
    const GpuSnapshot first = reader.Read(kSecondNs);
    EXPECT_EQ(first.source, ComputeSource::kNvml);
    EXPECT_FALSE(first.sm_active_percent);
    for (int i = 2; i < 5; ++i) {
      const GpuSnapshot gpu = reader.Read(i * kSecondNs);
      EXPECT_EQ(gpu.source, ComputeSource::kGpm);
      EXPECT_EQ(gpu.sm_active_percent, 2);
      EXPECT_EQ(gpu.dram_active_percent, 10);
      EXPECT_EQ(gpu.compute_percent, nvml::kGpmFp16Active);  // the busiest pipe that is known
      EXPECT_FALSE(gpu.tensor_active_percent);
      EXPECT_EQ(gpu.pcie_rx_bytes_per_second, 21.0 * 1024 * 1024);
      EXPECT_EQ(gpu.nvlink_tx_bytes_per_second, 61.0 * 1024 * 1024);
    }
  }
  EXPECT_EQ(FakeGpu::samples_alive, 0);
}

TEST(GpuReaderTest, WithoutGpmOnlyNvmlSpeaks) {
  const NvmlTable table = FakeGpu::Table();
  FakeGpu::gpm_supported = 0;
  GpuReader reader(table, 0, nullptr);
  reader.Read(kSecondNs);
  const GpuSnapshot gpu = reader.Read(2 * kSecondNs);
  EXPECT_STREQ(NameOf(gpu.source), "NVML");
  EXPECT_FALSE(gpu.compute_percent);
  EXPECT_FALSE(EfficiencyScorePercent(gpu));
}

TEST(GpuReaderTest, TheTrendOfMemoryIsOverTheLastMinute) {
  const NvmlTable table = FakeGpu::Table();
  GpuReader reader(table, 0, nullptr);
  EXPECT_FALSE(reader.Read(kSecondNs).memory_change_bytes_per_second);
  FakeGpu::used_bytes = 600;
  EXPECT_EQ(reader.Read(3 * kSecondNs).memory_change_bytes_per_second, -200);
  FakeGpu::used_bytes = 1200;
  // The reading of the first second is too old by now; that of the third is not.
  EXPECT_EQ(reader.Read(63 * kSecondNs).memory_change_bytes_per_second, 10);
}

}  // namespace
}  // namespace utlz::top
