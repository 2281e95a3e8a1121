#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/diagnosis/causes.h"
#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/run_writer.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

constexpr uint32_t kSeed = 3;
// So many that what is planted into each twentieth or fortieth step is in one.
constexpr size_t kFewSteps = 40;
// Enough for a window of samples.
constexpr double kEnoughNs = 0.25e9;

class PlantedLoads : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    loads_ = new std::vector<RecordedLoad>;
    absl::StatusOr<RecordedLoad> load = ReadRecordedLoad(UTLZ_RECORDING);
    ASSERT_TRUE(load.ok()) << load.status();
    loads_->push_back(*std::move(load));
  }
  static void TearDownTestSuite() { delete loads_; }
  void SetUp() override { ASSERT_TRUE(FewSteps("training").has_value()); }

  // Nothing where the demo's recording does not hold the kernels.
  static std::optional<Draft> FewSteps(const char* base) {
    std::optional<Draft> draft = HealthyDraft(base, Sorted(*loads_));
    if (!draft.has_value()) return std::nullopt;
    const auto enough = static_cast<size_t>(kEnoughNs / StepNs(*draft, draft->FirstStep()));
    const size_t steps = std::max(kFewSteps, enough);
    for (std::vector<Step>& all : draft->ranks) all.resize(std::min(steps, all.size()));
    return draft;
  }

  static std::vector<Cause> PossibleCauses() {
    std::vector<Cause> causes;
    for (const Cause& cause : Causes()) {
      if (!cause.needs_decoder && FewSteps(cause.base).has_value()) causes.push_back(cause);
    }
    return causes;
  }

  static PlannedRun Plan(const Cause& cause, double strength, uint32_t seed = kSeed) {
    std::optional<Draft> draft = FewSteps(cause.base);
    cause.plant(strength * cause.threshold, &*draft);
    return Planned(*std::move(draft), seed);
  }

  std::string Written(const PlannedRun& run, const RunWriterOptions& options = {}) {
    const std::string path = folder_.File("load" + std::to_string(files_++) + ".utlz");
    const absl::Status status = WritePlannedRun(run, path, options);
    EXPECT_TRUE(status.ok()) << status;
    return path;
  }

  std::string Bytes(const PlannedRun& run) {
    std::ifstream file(Written(run), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TemporaryFolder folder_;
  int files_ = 0;
  static std::vector<RecordedLoad>* loads_;
};

std::vector<RecordedLoad>* PlantedLoads::loads_ = nullptr;

TEST_F(PlantedLoads, AreMadeFromTheDemoForMostCauses) {
  ASSERT_GE(PossibleCauses().size(), 20u);
  const Step step = FewSteps("training")->FirstStep();
  EXPECT_GT(step.size(), 50u);
}

TEST_F(PlantedLoads, AreReadWithoutNoticeOfDamage) {
  for (const Cause& cause : PossibleCauses()) {
    SCOPED_TRACE(cause.name);
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(Written(Plan(cause, 1)));
    ASSERT_TRUE(reader.ok()) << reader.status();
    RunIntake intake;
    FrameView frame;
    while (reader->Next(&frame)) intake.Consume(frame.source, frame.type, frame.payload);
    EXPECT_TRUE(reader->finished());
    EXPECT_EQ(reader->refused_frames(), 0u);
    EXPECT_EQ(reader->unreadable_bytes(), 0u);
    const Summary summary = Summarize(intake.Advance());
    const CaptureSummary& capture = summary.capture();
    EXPECT_EQ(capture.frames_refused(), 0u);
    EXPECT_EQ(capture.launches_implausible(), 0u);
    EXPECT_EQ(capture.copies_implausible(), 0u);
    EXPECT_EQ(capture.samples_implausible(), 0u);
    EXPECT_EQ(capture.samples_lost(), 0u);
    EXPECT_GT(capture.samples(), 0u);
    EXPECT_GE(capture.launches(), kFewSteps);
    // Of growing steps a report says that they grow.
    const bool grows = std::string_view(cause.name) == "growing_host_work";
    EXPECT_EQ(summary.run().notices_size(), grows ? 1 : 0) << summary.run().DebugString();
  }
}

using Sums = std::array<double, 6>;

Sums PlannedWork(const PlannedRun& run) {
  Sums sums{};
  for (const PlannedRank& rank : run.ranks) {
    for (const PlannedLaunch& launch : rank.launches) {
      const LaunchWork work = run.kernels[launch.kernel].work.Scaled(launch.work_share);
      sums[0] += work.dram_read_bytes;
      sums[1] += work.dram_write_bytes;
      sums[3] += work.tensor_cycles;
      sums[4] += work.sm_active_cycles;
      sums[5] += work.fma_instructions;
    }
    for (const PlannedCopy& copy : rank.copies) {
      const auto bytes = static_cast<double>(copy.bytes);
      if (copy.kind != COPY_HOST_TO_DEVICE) sums[0] += bytes;
      if (copy.kind != COPY_DEVICE_TO_HOST) sums[1] += bytes;
    }
  }
  return sums;
}

Sums CountedWork(const std::string& path) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  Sums sums{};
  MetricSet set;
  FrameView frame;
  while (reader->Next(&frame)) {
    if (frame.type == FRAME_METRIC_SET) {
      set.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size()));
    }
    if (frame.type != FRAME_SAMPLES) continue;
    SampleBatch batch;
    EXPECT_TRUE(batch.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size())));
    for (int column = 0; column < batch.column_size(); ++column) {
      int64_t value = 0;
      for (const int64_t delta : batch.column(column).delta()) {
        value += delta;
        sums[column] += static_cast<double>(value) * set.metric(column).resolution();
      }
    }
  }
  return sums;
}

TEST_F(PlantedLoads, CountersHoldWhatWasPlanned) {
  for (const Cause& cause : PossibleCauses()) {
    SCOPED_TRACE(cause.name);
    const PlannedRun run = Plan(cause, 1);
    const Sums planned = PlannedWork(run);
    const Sums counted = CountedWork(Written(run, {.everything = true}));
    // A step of the counter a rank may be left over.
    for (const size_t column : {0, 1, 3, 4, 5}) {
      EXPECT_NEAR(counted[column], planned[column], 64 + 1e-9 * planned[column]) << column;
    }
    EXPECT_GT(planned[0], 1e9);
  }
}

TEST_F(PlantedLoads, AreTheSameFromTheSameSeed) {
  const Cause& cause = Causes().front();
  EXPECT_EQ(Bytes(Plan(cause, 1)), Bytes(Plan(cause, 1)));
  EXPECT_NE(Bytes(Plan(cause, 1)), Bytes(Plan(cause, 1, kSeed + 1)));
}

TEST_F(PlantedLoads, NothingPlantedIsTheHealthyLoad) {
  for (const Cause& cause : PossibleCauses()) {
    SCOPED_TRACE(cause.name);
    const std::string healthy = Bytes(Planned(*FewSteps(cause.base), kSeed));
    EXPECT_EQ(Bytes(Plan(cause, 0)), healthy);
    EXPECT_NE(Bytes(Plan(cause, 1)), healthy);
  }
}

double TimeNs(const PlannedRun& run) { return static_cast<double>(run.end_ns - kStartUpNs); }

// In kernels that were added, beyond what good ones need; all of it where a full GPU needs none.
double LostInAddedKernels(const PlannedRun& run, size_t healthy_kernels, bool all_of_it) {
  double lost_ns = 0;
  for (const PlannedLaunch& launch : run.ranks.front().launches) {
    if (launch.kernel < healthy_kernels) continue;
    const double good_ns = run.kernels[launch.kernel].memory_time_ns / kGoodOther;
    lost_ns += static_cast<double>(launch.duration_ns);
    if (!all_of_it) lost_ns -= launch.work_share * good_ns;
  }
  return lost_ns;
}

// Of the planted load's time, that share was not there before. Elementwise kernels are counted
// with those that were there, and uneven batches and waits in some of the steps lose their share on
// average only. Tiny kernels take the place of all others; a request's share is of its own time.
// Products in FP32 lose what TF32 would save of them, and host work grows over more steps.
TEST_F(PlantedLoads, LoseTheirShareOfTheTime) {
  for (const Cause& cause : PossibleCauses()) {
    const std::string name = cause.name;
    if (name == "memory_leak" || name == "unfused_elementwise" || name == "uneven_batches" ||
        name == "rare_stalls" || name == "checkpoints" || name == "tiny_kernels" ||
        name == "bursts_launch_bound" || name == "single_precision" ||
        name == "growing_host_work") {
      continue;
    }
    SCOPED_TRACE(name);
    const PlannedRun healthy = Planned(*FewSteps(cause.base), kSeed);
    for (const double strength : {0.5, 1.0, 2.0}) {
      const PlannedRun planted = Plan(cause, strength);
      const double lost_ns =
          planted.kernels.size() == healthy.kernels.size()
              ? TimeNs(planted) - TimeNs(healthy)
              : LostInAddedKernels(planted, healthy.kernels.size(), name == "small_batch");
      EXPECT_NEAR(lost_ns / TimeNs(planted), strength * cause.threshold, 0.004) << strength;
    }
  }
}

TEST_F(PlantedLoads, KernelsKeepWithinWhatTheGpuCanDo) {
  for (const Cause& cause : PossibleCauses()) {
    SCOPED_TRACE(cause.name);
    const PlannedRun run = Plan(cause, 2);
    for (const PlannedLaunch& launch : run.ranks.front().launches) {
      const RecordedKernel& kernel = run.kernels[launch.kernel];
      const double seconds = static_cast<double>(launch.duration_ns) * 1e-9 / launch.work_share;
      const LaunchWork& work = kernel.work;
      ASSERT_LE((work.dram_read_bytes + work.dram_write_bytes) / seconds,
                run.peaks.dram_bytes_per_second())
          << kernel.name;
      const double cycles =
          seconds * run.peaks.sm_clock_maximum_hz() * run.device.multiprocessors();
      ASSERT_LE(work.sm_active_cycles, 1.02 * cycles) << kernel.name;
      ASSERT_LE(work.tensor_cycles, 4 * cycles) << kernel.name;
    }
  }
}

TEST_F(PlantedLoads, ProfilesThatHoldNothingAreRefused) {
  const std::string path = Written(PlannedRun());
  EXPECT_FALSE(ReadRecordedLoad(path).ok());
  EXPECT_FALSE(ReadRecordedLoad(path + ".none").ok());
}

}  // namespace
}  // namespace utlz
