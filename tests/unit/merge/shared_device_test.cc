// Profiles of two programs that ran on one GPU at once: what a shared sampler read of it is in
// both.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collector/profile/profile_writer.h"
#include "proto/profile.pb.h"
#include "tests/support/launch_encoder.h"
#include "tests/support/temporary_folder.h"
#include "tools/merge/merge.h"

namespace utlz {
namespace {

constexpr uint64_t kStartNs = 1'700'000'000'000'000'000;
constexpr uint64_t kRepetitions = 400;
constexpr uint64_t kRepetitionNs = 100'000;
constexpr uint64_t kKernelNs = 40'000;
constexpr uint64_t kIntervalNs = 5'000;
constexpr uint64_t kBatchNs = 1'000'000;
constexpr uint64_t kBytesPerNs = 4;
constexpr uint32_t kPrograms = 2;

uint64_t KernelStartNs(uint32_t program, uint64_t repetition) {
  return repetition * kRepetitionNs + program * kRepetitionNs / kPrograms;
}

// The kernels take turns on the GPU, and read as fast as each other.
uint64_t BytesBetween(uint64_t start_ns, uint64_t end_ns) {
  uint64_t busy_ns = 0;
  for (uint32_t program = 0; program < kPrograms; ++program) {
    const uint64_t from_ns = KernelStartNs(program, start_ns / kRepetitionNs);
    const uint64_t until_ns = from_ns + kKernelNs;
    busy_ns += std::max(std::min(until_ns, end_ns), start_ns) -
               std::min(std::max(from_ns, start_ns), end_ns);
  }
  return kBytesPerNs * busy_ns;
}

// What one collector writes of its program, and of the GPU from one time to another.
class ProgramProfile {
 public:
  ProgramProfile(const std::string& path, uint32_t program, uint32_t metric_set = 1)
      : writer_(ProfileWriter::Open(path)), program_(program), metric_set_(metric_set) {
    EXPECT_TRUE(writer_.ok()) << writer_.status().ToString();
    AppendIdentity();
    AppendMetricSet();
  }

  // In repetitions, of which a batch of samples holds ten.
  ProgramProfile& Samples(uint64_t first, uint64_t end) {
    for (uint64_t ns = first * kRepetitionNs; ns < end * kRepetitionNs; ns += kBatchNs) {
      AppendSamples(ns);
    }
    return *this;
  }

  void Finish() {
    DecodedLaunches decoded;
    for (uint64_t i = 0; i < kRepetitions; ++i) {
      const uint64_t start_ns = kStartNs + KernelStartNs(program_, i);
      decoded.launches.push_back({start_ns, start_ns + kKernelNs, 0, 0});
    }
    decoded.segments.push_back({static_cast<uint32_t>(decoded.launches.size()), 7, 1, 0});
    Append(1, FRAME_LAUNCHES, EncodeLaunches(decoded));
    RunEnd end;
    end.set_time_ns(kStartNs + kRepetitions * kRepetitionNs);
    Append(0, FRAME_RUN_END, end);
    EXPECT_TRUE(writer_->Finish().ok());
  }

  template <typename Message>
  void Append(uint32_t source, FrameType type, const Message& message) {
    const auto number = static_cast<uint16_t>(type);
    EXPECT_TRUE(writer_->Append(source, number, message.SerializeAsString()).ok());
  }

  static std::string Uuid() { return std::string(16, 'A'); }

 private:
  void AppendIdentity() {
    RunStart start;
    start.set_time_ns(kStartNs);
    start.set_host("a");
    Append(0, FRAME_RUN_START, start);
    Process process;
    process.set_pid(1000 + program_);
    process.set_start_time_ns(kStartNs);
    Append(1, FRAME_PROCESS, process);
    Device device;
    device.set_uuid(Uuid());
    Append(1, FRAME_DEVICE, device);
    Context context;
    context.set_id(1);
    Append(1, FRAME_CONTEXT, context);
    Strings strings;
    strings.set_first(1);
    strings.add_values("kernel_of_" + std::to_string(program_));
    Append(1, FRAME_STRINGS, strings);
    Variants variants;
    variants.add_name(1);
    for (auto* column :
         {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
          variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
      column->Add(1);
    }
    Append(1, FRAME_VARIANTS, variants);
  }

  void AppendMetricSet() {
    MetricSet set;
    set.set_id(metric_set_);
    set.set_device_uuid(Uuid());
    set.set_interval_ns(kIntervalNs);
    for (const MetricRole role : {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES}) {
      MetricSet::Metric* metric = set.add_metric();
      metric->set_name(MetricRole_Name(role));
      metric->set_role(role);
      metric->set_unit("byte");
      metric->set_resolution(1);
    }
    Append(0, FRAME_METRIC_SET, set);
  }

  void AppendSamples(uint64_t from_ns) {
    SampleBatch batch;
    batch.set_metric_set(metric_set_);
    batch.set_device_uuid(Uuid());
    batch.set_base_ns(kStartNs + from_ns);
    batch.set_interval_ns(kIntervalNs);
    SampleBatch::Column* read = batch.add_column();
    SampleBatch::Column* write = batch.add_column();
    int64_t last = 0;
    for (uint64_t ns = from_ns; ns < from_ns + kBatchNs; ns += kIntervalNs) {
      const auto bytes = static_cast<int64_t>(BytesBetween(ns, ns + kIntervalNs));
      read->add_delta(bytes - last);
      write->add_delta(0);
      last = bytes;
    }
    batch.set_samples(static_cast<uint32_t>(read->delta_size()));
    Append(0, FRAME_SAMPLES, batch);
  }

  absl::StatusOr<ProfileWriter> writer_;
  uint32_t program_;
  uint32_t metric_set_;
};

class SharedDeviceTest : public ::testing::Test {
 protected:
  Summary Merge(const std::vector<std::string>& paths) {
    const auto merged = MergeProfiles(paths, folder_.File("merged.utlz"));
    EXPECT_TRUE(merged.ok()) << merged.status().ToString();
    EXPECT_EQ(merged->capture().frames_refused(), 0u);
    EXPECT_EQ(merged->devices_size(), 1);
    return *merged;
  }

  std::string Path(const std::string& name) { return folder_.File(name); }

  TemporaryFolder folder_;
};

TEST_F(SharedDeviceTest, ASampleOfItCountsOnce) {
  for (uint32_t program = 0; program < kPrograms; ++program) {
    ProgramProfile(Path(std::to_string(program)), program).Samples(0, kRepetitions).Finish();
  }
  const Summary merged = Merge({Path("0"), Path("1")});
  EXPECT_EQ(merged.capture().samples(), kRepetitions * kRepetitionNs / kIntervalNs);
  EXPECT_EQ(merged.capture().sampling_time_ns(), kRepetitions * kRepetitionNs);
  const double bytes = double{kPrograms} * kRepetitions * kKernelNs * kBytesPerNs;
  EXPECT_NEAR(merged.devices(0).dram_read_bytes(), bytes, 0.01 * bytes);
  ASSERT_EQ(merged.kernels_size(), 2);
  for (const KernelSummary& kernel : merged.kernels()) {
    EXPECT_NEAR(kernel.dram_read_bytes(), bytes / kPrograms, 0.02 * bytes) << kernel.short_name();
  }
}

// One came later, and one left earlier: what only the other saw is not lost.
TEST_F(SharedDeviceTest, WhatOneAloneSawIsKept) {
  ProgramProfile(Path("0"), 0).Samples(0, 300).Finish();
  ProgramProfile(Path("1"), 1).Samples(100, kRepetitions).Finish();
  for (const std::vector<std::string>& order :
       {std::vector{Path("0"), Path("1")}, std::vector{Path("1"), Path("0")}}) {
    EXPECT_EQ(Merge(order).capture().samples(), kRepetitions * kRepetitionNs / kIntervalNs);
  }
}

// Each profile has the metric sets of the sampler, and a device takes only so many.
TEST_F(SharedDeviceTest, ManyProfilesShareItsMetricSets) {
  std::vector<std::string> paths;
  for (uint32_t program = 0; program < 20; ++program) {
    paths.push_back(Path(std::to_string(program)));
    ProgramProfile(paths.back(), program).Samples(10 * program, 10 * program + 20).Finish();
  }
  EXPECT_EQ(Merge(paths).capture().samples(), 210 * kRepetitionNs / kIntervalNs);
}

// The totals go on after the one who told them first has left.
TEST_F(SharedDeviceTest, TotalsAreOfBoth) {
  for (uint32_t program = 0; program < kPrograms; ++program) {
    ProgramProfile profile(Path(std::to_string(program)), program);
    for (uint64_t reading = 0; reading < 10; ++reading) {
      DeviceTotalsBatch totals;
      totals.set_device_uuid(ProgramProfile::Uuid());
      totals.add_time_ns(kStartNs + (reading + 5 * program) * 1'000'000);
      totals.add_memory_used_bytes(1e9 * static_cast<double>(program + 1));
      profile.Append(0, FRAME_DEVICE_TOTALS, totals);
    }
    profile.Finish();
  }
  const Summary merged = Merge({Path("0"), Path("1")});
  EXPECT_EQ(merged.devices(0).memory_used_bytes_max(), 2e9);
}

}  // namespace
}  // namespace utlz
