#include "collector/sampler/counters/nvml_totals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <string>

namespace utlz {
namespace {

// An NVML with one GPU. Its functions are plain pointers, so what they say is here.
struct FakeNvml {
  static inline int clock_result = 0;
  static inline unsigned gpm_supported = 1;
  static inline int samples_alive = 0;
  static inline int processes_result = 0;
  static inline uint64_t time = 0;
  static inline uint64_t energies = 0;

  static NvmlTable Table() {
    NvmlTable table;
    table.device_get_handle_by_uuid = [](const char* uuid, nvml::DeviceHandle** handle) {
      *handle = nullptr;
      return std::string(uuid) == "GPU-75757575-7575-7575-7575-757575757575" ? 0 : 2;
    };
    table.device_get_utilization = [](nvml::DeviceHandle*, nvml::Utilization* utilization) {
      utilization->gpu = 97;
      return 0;
    };
    table.device_get_power = [](nvml::DeviceHandle*, unsigned* milliwatts) {
      *milliwatts = 690'000;
      return 0;
    };
    table.device_get_energy = [](nvml::DeviceHandle*, unsigned long long* millijoules) {
      *millijoules = ++energies;
      return 0;
    };
    table.device_get_clock = [](nvml::DeviceHandle*, unsigned type, unsigned* mhz) {
      *mhz = type == nvml::kClockSm ? 1500 : 3201;
      return clock_result;
    };
    table.device_get_clock_limits = [](nvml::DeviceHandle*, unsigned long long* reasons) {
      *reasons = nvml::kClocksSoftwarePowerCap;
      return 0;
    };
    table.device_get_compute_processes = [](nvml::DeviceHandle*, unsigned* count,
                                            nvml::ProcessInfo* processes) {
      if (*count < 3) return 7;
      *count = 3;
      processes[0].pid = 1;
      processes[1].pid = static_cast<unsigned>(getpid());
      processes[2].pid = 2;
      return processes_result;
    };
    table.gpm_query_support = [](nvml::DeviceHandle*, nvml::GpmSupport* support) {
      support->supported = gpm_supported;
      return 0;
    };
    table.gpm_sample_alloc = [](nvml::GpmSampleHandle** sample) {
      *sample = reinterpret_cast<nvml::GpmSampleHandle*>(new uint64_t(0));
      ++samples_alive;
      return 0;
    };
    table.gpm_sample_free = [](nvml::GpmSampleHandle* sample) {
      delete reinterpret_cast<uint64_t*>(sample);
      --samples_alive;
      return 0;
    };
    table.gpm_sample_get = [](nvml::DeviceHandle*, nvml::GpmSampleHandle* sample) {
      *reinterpret_cast<uint64_t*>(sample) = ++time;
      return 0;
    };
    table.gpm_metrics_get = [](nvml::GpmMetricsGet* get) {
      // Two readings that follow each other.
      if (*reinterpret_cast<uint64_t*>(get->sample1) + 1 !=
          *reinterpret_cast<uint64_t*>(get->sample2)) {
        return 2;
      }
      for (unsigned i = 0; i < get->metric_count; ++i) {
        get->metric[i].result = get->metric[i].id == nvml::kGpmFp16Active ? 3 : 0;
        get->metric[i].value = get->metric[i].id == nvml::kGpmTensorActive ? 35 : 2;
      }
      return 0;
    };
    return table;
  }
};

class NvmlTotalsTest : public testing::Test {
 protected:
  void SetUp() override {
    FakeNvml::clock_result = 0;
    FakeNvml::gpm_supported = 1;
  }

  const std::string uuid_ = std::string(16, 'u');
  const NvmlTable table_ = FakeNvml::Table();
};

TEST_F(NvmlTotalsTest, ReadsWhatThereIsAndLeavesTheRestUnknown) {
  FakeNvml::clock_result = 3;
  const auto totals = NvmlTotals::Create(table_, uuid_);
  ASSERT_NE(totals, nullptr);
  totals->Read();
  const DeviceTotalsBatch batch = totals->Take();
  EXPECT_EQ(batch.device_uuid(), uuid_);
  ASSERT_EQ(batch.time_ns_size(), 1);
  EXPECT_EQ(batch.gpu_busy_percent(0), 97);
  EXPECT_EQ(batch.power_milliwatts(0), 690'000);
  EXPECT_EQ(batch.clock_limit_reasons(0), 4u);
  EXPECT_TRUE(std::isnan(batch.sm_clock_mhz(0)));
  EXPECT_TRUE(std::isnan(batch.temperature_celsius(0)));
  EXPECT_TRUE(std::isnan(batch.memory_used_bytes(0)));
}

TEST_F(NvmlTotalsTest, GpmSpeaksOfTheTimeBetweenTwoReadings) {
  const auto totals = NvmlTotals::Create(table_, uuid_);
  ASSERT_TRUE(totals->has_gpm());
  for (int i = 0; i < 4; ++i) totals->Read();
  const DeviceTotalsBatch batch = totals->Take();
  ASSERT_EQ(batch.gpm_tensor_active_percent_size(), 4);
  EXPECT_EQ(batch.gpm_tensor_active_percent(3), 35);
  EXPECT_TRUE(std::isnan(batch.gpm_tensor_active_percent(0)));
  EXPECT_EQ(batch.gpm_tensor_active_percent(1), 35);
  EXPECT_TRUE(std::isnan(batch.gpm_fp16_active_percent(1)));
  EXPECT_EQ(batch.pcie_rx_bytes_per_second(1), 2 * 1024 * 1024);
  EXPECT_EQ(totals->readings(), 0);
}

TEST_F(NvmlTotalsTest, EnergyIsDearAndAskedForOnceABatchAndAtTheEnd) {
  const auto totals = NvmlTotals::Create(table_, uuid_);
  FakeNvml::energies = 0;
  for (int i = 0; i < 5; ++i) totals->Read();
  const DeviceTotalsBatch first = totals->Take();
  EXPECT_EQ(first.energy_millijoules(0), 1);
  EXPECT_TRUE(std::isnan(first.energy_millijoules(1)));
  EXPECT_TRUE(std::isnan(first.energy_millijoules(4)));
  totals->Read();
  totals->Read();
  totals->ReadLast();
  const DeviceTotalsBatch last = totals->Take();
  EXPECT_EQ(last.energy_millijoules(0), 2);
  EXPECT_TRUE(std::isnan(last.energy_millijoules(1)));
  EXPECT_EQ(last.energy_millijoules(2), 3);
  EXPECT_EQ(FakeNvml::energies, 3u);
}

TEST_F(NvmlTotalsTest, WithoutGpmItsColumnsAreAbsent) {
  FakeNvml::gpm_supported = 0;
  const auto totals = NvmlTotals::Create(table_, uuid_);
  EXPECT_FALSE(totals->has_gpm());
  totals->Read();
  EXPECT_EQ(totals->Take().gpm_sm_active_percent_size(), 0);
}

TEST_F(NvmlTotalsTest, GivesGpmSamplesBack) {
  { const auto totals = NvmlTotals::Create(table_, uuid_); }
  EXPECT_EQ(FakeNvml::samples_alive, 0);
}

TEST_F(NvmlTotalsTest, AnUnknownGpuHasNone) {
  EXPECT_EQ(NvmlTotals::Create(table_, std::string(16, 'x')), nullptr);
}

TEST(NvmlTotals, CountsTheProcessesOnTheGpuButItself) {
  const NvmlTable table = FakeNvml::Table();
  const auto totals = NvmlTotals::Create(table, std::string(16, 'u'));
  ASSERT_NE(totals, nullptr);
  totals->Read();
  EXPECT_EQ(totals->Take().compute_processes(), 2u);
  FakeNvml::processes_result = 3;
  EXPECT_FALSE(totals->Take().has_compute_processes()) << "unknown is not none";
  FakeNvml::processes_result = 0;
}

}  // namespace
}  // namespace utlz
