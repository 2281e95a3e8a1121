#include "collector/sampler/counters/device_peaks.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "collector/sampler/counters/peak_rates.h"

namespace utlz {
namespace {

CudaDevice H200() {
  CudaDevice device;
  device.uuid = std::string(16, 'u');
  device.name = "NVIDIA H200";
  device.compute_capability_major = 9;
  device.multiprocessors = 132;
  device.sm_clock_khz = 1'980'000;
  device.memory_clock_khz = 3'201'000;
  device.memory_bus_bits = 6016;
  return device;
}

std::map<std::string, double> PipesOf(const DevicePeaks& peaks) {
  std::map<std::string, double> pipes;
  for (const DevicePeaks::Pipe& pipe : peaks.pipe())
    pipes[pipe.data_type()] = pipe.flops_per_cycle();
  return pipes;
}

// The datasheet: 4.8 TB/s; at 1830 MHz 989 TFLOPS bf16, 1979 fp8, 495 tf32, 67 fp64 tensor and
// fp32, 34 fp64.
TEST(DevicePeaks, MatchTheDatasheetOfTheH200) {
  const DevicePeaks peaks = DescribePeaks(H200(), "GH100");
  EXPECT_NEAR(peaks.dram_bytes_per_second(), 4.8e12, 0.02e12);
  EXPECT_EQ(peaks.multiprocessors(), 132u);
  EXPECT_EQ(peaks.sm_clock_maximum_hz(), 1.98e9);
  std::map<std::string, double> pipes = PipesOf(peaks);
  constexpr double kDatasheetClock = 1.83e9;
  EXPECT_NEAR(pipes["bf16"] * kDatasheetClock, 989e12, 3e12);
  EXPECT_NEAR(pipes["fp8"] * kDatasheetClock, 1979e12, 3e12);
  EXPECT_NEAR(pipes["tf32"] * kDatasheetClock, 495e12, 2e12);
  EXPECT_NEAR(pipes["fp64_tensor"] * kDatasheetClock, 67e12, 6e12);
  EXPECT_NEAR(pipes["fp32"] * kDatasheetClock, 67e12, 6e12);
  EXPECT_NEAR(pipes["fp64"] * kDatasheetClock, 34e12, 4e12);
}

// The datasheet: 312 TFLOPS bf16 at 1410 MHz on 108 multiprocessors.
TEST(DevicePeaks, MatchTheDatasheetOfTheA100) {
  CudaDevice device;
  device.compute_capability_major = 8;
  device.multiprocessors = 108;
  EXPECT_NEAR(PipesOf(DescribePeaks(device, ""))["bf16"] * 1.41e9, 312e12, 1e12);
  EXPECT_NEAR(PipesOf(DescribePeaks(device, ""))["fp64_tensor"] * 1.41e9, 19.5e12, 0.1e12);
}

TEST(DevicePeaks, AnUnknownChipHasNoPipesInsteadOfGuesses) {
  EXPECT_TRUE(PeakRates(42, 0).empty());
  EXPECT_EQ(DescribePeaks({}, "").pipe_size(), 0);
  EXPECT_EQ(DramBytesPerSecond(0, 6016), 0);
  EXPECT_EQ(DramBytesPerSecond(3'201'000, 0), 0);
}

}  // namespace
}  // namespace utlz
