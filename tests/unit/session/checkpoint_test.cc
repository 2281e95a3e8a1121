// Summaries that are written while the run goes on.
#include <gmock/gmock.h>
#include <google/protobuf/util/field_comparator.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "collector/profile/profile_reader.h"
#include "collector/profile/profile_writer.h"
#include "collector/session/checkpoint_schedule.h"
#include "collector/session/run_recorder.h"
#include "tests/support/temporary_folder.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

TEST(CheckpointScheduleTest, DoublesUpToHalfAnHour) {
  const CheckpointSchedule::Clock::time_point start{std::chrono::hours(5)};
  CheckpointSchedule schedule(start);
  std::vector<int64_t> due;
  for (int minute = 0; minute <= 130; ++minute) {
    if (schedule.Due(start + minutes(minute))) due.push_back(minute);
  }
  EXPECT_EQ(due, (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 62, 92, 122}));
}

class CheckpointTest : public ::testing::Test {
 protected:
  // Sends the bundled recording through a recorder, with a checkpoint after every `every` frames.
  Summary Record(size_t every, bool finish) {
    absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path_);
    EXPECT_TRUE(writer.ok());
    RunRecorder recorder(*std::move(writer));
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(UTLZ_RECORDING);
    EXPECT_TRUE(reader.ok());
    RunEnd end;
    size_t frames = 0;
    for (FrameView frame; reader->Next(&frame);) {
      if (frame.type == FRAME_SUMMARY) continue;
      if (frame.type == FRAME_RUN_END) {
        EXPECT_TRUE(end.ParseFromString(std::string(frame.payload)));
        continue;
      }
      recorder.Record(frame.source, frame.type, frame.payload);
      if (every == 0 || ++frames % every != 0) continue;
      recorder.BeginCheckpoint();
      recorder.CatchUpWithAll();
    }
    if (finish) return recorder.Finish(end);
    recorder.Flush();
    return {};
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.File("run.utlz");
};

TEST_F(CheckpointTest, LookingDoesNotChangeTheResult) {
  const Summary undisturbed = Record(0, true);
  ASSERT_GT(undisturbed.kernels_size(), 50);
  const Summary looked_at = Record(100, true);
  // The solver takes its samples in other portions, which shows where few samples have a counter.
  constexpr double kRounding = 1e-7;
  constexpr double kFewSamples = 1e-3;
  google::protobuf::util::DefaultFieldComparator rounding;
  rounding.set_float_comparison(google::protobuf::util::DefaultFieldComparator::APPROXIMATE);
  rounding.SetDefaultFractionAndMargin(kRounding, kRounding);
  rounding.set_treat_nan_as_equal(true);
  rounding.SetFractionAndMargin(KernelSummary::descriptor()->FindFieldByName("l2_bytes"),
                                kFewSamples, 0);
  google::protobuf::util::MessageDifferencer difference;
  difference.set_field_comparator(&rounding);
  std::string differs;
  difference.ReportDifferencesToString(&differs);
  EXPECT_TRUE(difference.Compare(undisturbed, looked_at)) << differs;
  const auto loaded = LoadSummary(path_);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->SerializeAsString(), looked_at.SerializeAsString()) << "the last one counts";
}

TEST_F(CheckpointTest, ALargeProfileWithoutAnEndShowsItsLastCheckpoint) {
  Record(100, false);
  const auto noted = LoadSummary(path_, {.replayed_at_most_bytes = 1000});
  ASSERT_TRUE(noted.ok());
  EXPECT_FALSE(noted->run().finished());
  ASSERT_GT(noted->run().notices_size(), 0);
  EXPECT_THAT(*noted->run().notices().rbegin(), HasSubstr("--recompute"));
  const auto replayed = LoadSummary(path_);
  ASSERT_TRUE(replayed.ok());
  EXPECT_GT(noted->capture().launches(), replayed->capture().launches() / 2);
  EXPECT_LE(noted->capture().launches(), replayed->capture().launches());
  for (const std::string& notice : replayed->run().notices()) {
    EXPECT_EQ(notice.find("--recompute"), std::string::npos) << "all of it was read";
  }
}

TEST_F(CheckpointTest, WithoutACheckpointItIsReplayedHoweverLarge) {
  Record(0, false);
  const auto replayed = LoadSummary(path_, {.replayed_at_most_bytes = 1000});
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(replayed->capture().launches(), 159238u) << "all that the recording holds";
}

// The bundled recording was made before there was a ladder.
TEST(LoadSummaryTest, AProfileOfAnEarlierVersionIsReducedAnew) {
  const auto loaded = LoadSummary(UTLZ_RECORDING);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(loaded->has_ladder());
}

TEST(LoadSummaryTest, WhatIsInfiniteInAFileIsUnknown) {
  const TemporaryFolder folder;
  const std::string path = folder.File("forged.utlz");
  Summary forged;
  forged.mutable_efficiency()->set_hfu(std::numeric_limits<double>::infinity());
  forged.mutable_efficiency()->set_mfu(0.25);
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append(0, FRAME_SUMMARY, forged.SerializeAsString()).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto loaded = LoadSummary(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_FALSE(loaded->efficiency().has_hfu());
  EXPECT_EQ(loaded->efficiency().mfu(), 0.25);
}

}  // namespace
}  // namespace utlz
