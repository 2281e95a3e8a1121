// What takes long is found out on another thread while frames go on being recorded.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "collector/profile/profile_reader.h"
#include "collector/profile/profile_writer.h"
#include "collector/session/background_study.h"
#include "collector/session/run_recorder.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/temporary_folder.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong(1000 * 1000);

TEST(BackgroundStudy, RunsBesideTheThreadThatBeganIt) {
  BackgroundStudy study;
  EXPECT_TRUE(study.over());
  std::promise<void> go;
  int found = 0;
  study.Begin([&] {
    go.get_future().wait();
    found = 7;
  });
  EXPECT_FALSE(study.over());
  go.set_value();
  study.Wait();
  EXPECT_TRUE(study.over());
  EXPECT_EQ(found, 7);
  study.Begin([&] { found = 8; });
  study.Wait();
  EXPECT_EQ(found, 8);
}

TEST(BackgroundStudy, ItsEndIsWaitedFor) {
  int found = 0;
  {
    BackgroundStudy study;
    study.Begin([&] { found = 7; });
  }
  EXPECT_EQ(found, 7);
}

class StudyTest : public ::testing::Test {
 protected:
  void SetUp() override { recorder_ = NewRecorder("run.utlz"); }

  std::unique_ptr<RunRecorder> NewRecorder(const std::string& name) {
    absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(folder_.File(name));
    EXPECT_TRUE(writer.ok());
    return std::make_unique<RunRecorder>(*std::move(writer));
  }

  // Frames of the bundled recording without its end; calls between(number) before each.
  template <typename Between>
  static void Feed(RunRecorder* recorder, Between between) {
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(UTLZ_RECORDING);
    ASSERT_TRUE(reader.ok());
    size_t number = 0;
    for (FrameView frame; reader->Next(&frame);) {
      if (frame.type == FRAME_SUMMARY || frame.type == FRAME_RUN_END) continue;
      between(number++);
      recorder->Record(frame.source, frame.type, frame.payload);
    }
  }

  void HoldStudy(uint64_t* launches_before, uint64_t* launches_after) {
    recorder_->Study([=, this](const RunState& run_state) {
      *launches_before = run_state.launches;
      go_.get_future().wait();
      *launches_after = run_state.launches;
    });
  }

  TemporaryFolder folder_;
  std::unique_ptr<RunRecorder> recorder_;
  std::promise<void> go_;
};

TEST_F(StudyTest, WhatIsLookedAtDoesNotChangeAndNothingIsLost) {
  uint64_t before = 1;
  uint64_t after = 2;
  HoldStudy(&before, &after);
  Feed(recorder_.get(), [](size_t) {});
  EXPECT_TRUE(recorder_->studying());
  EXPECT_FALSE(recorder_->CatchUp(kLong)) << "the study goes on";
  EXPECT_EQ(recorder_->launches(), 0u);
  go_.set_value();
  const RunState& run_state = recorder_->Advance();
  EXPECT_FALSE(recorder_->behind());
  EXPECT_EQ(before, 0u);
  EXPECT_EQ(after, 0u);
  EXPECT_GT(run_state.launches, 100'000u);
  const auto recorded = LoadSummary(UTLZ_RECORDING);
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(run_state.launches, static_cast<uint64_t>(recorded->capture().launches()));
}

TEST_F(StudyTest, ItsResultIsTakenOnTheThreadThatRecords) {
  std::string told;
  std::promise<void> looked;
  recorder_->Study([&](const RunState&) { looked.set_value(); }, [&] { told = "then"; });
  looked.get_future().wait();
  EXPECT_EQ(told, "");
  while (recorder_->studying()) recorder_->CatchUp(kLong);
  EXPECT_EQ(told, "then");
}

TEST_F(StudyTest, FramesAreTakenInByAndByInTheirOrder) {
  uint64_t before = 0;
  uint64_t after = 0;
  HoldStudy(&before, &after);
  Feed(recorder_.get(), [](size_t) {});
  go_.set_value();
  int times = 0;
  // Time for one frame at least.
  while (!recorder_->CatchUp(milliseconds(1))) ++times;
  EXPECT_GT(times, 2);
  const Summary caught_up = recorder_->Finish(RunEnd());
  const auto undisturbed = NewRecorder("other.utlz");
  Feed(undisturbed.get(), [](size_t) {});
  EXPECT_EQ(undisturbed->Finish(RunEnd()).SerializeAsString(), caught_up.SerializeAsString());
}

// However long a study takes, memory is bounded: then recording waits.
TEST_F(StudyTest, WaitsWhereTooMuchCame) {
  uint64_t before = 0;
  uint64_t after = 0;
  HoldStudy(&before, &after);
  const std::string payload(size_t{1} << 20, 'x');
  constexpr size_t kFrames = RunRecorder::kMostWaitingBytes >> 20;
  for (size_t i = 0; i < kFrames; ++i) {
    if (i + 1 == kFrames) {
      EXPECT_TRUE(recorder_->studying());
      go_.set_value();
    }
    recorder_->Record(0, FRAME_PADDING, payload);
  }
  EXPECT_FALSE(recorder_->behind());
}

TEST_F(StudyTest, TheEndOfTheRunComesAfterIt) {
  bool over = false;
  Feed(recorder_.get(), [&](size_t number) {
    if (number == 100) {
      recorder_->Study([&](const RunState& run_state) {
        Summarize(run_state);
        over = true;
      });
    }
  });
  const Summary summary = recorder_->Finish(RunEnd());
  EXPECT_TRUE(over);
  EXPECT_GT(summary.kernels_size(), 50);
}

TEST_F(StudyTest, ACheckpointIsAStudyToo) {
  Feed(recorder_.get(), [&](size_t number) {
    if (number % 100 == 99 && !recorder_->behind()) recorder_->BeginCheckpoint();
    recorder_->CatchUp(milliseconds(1));
  });
  recorder_->CatchUpWithAll();
  recorder_->Flush();
  // Too long to be replayed: what is shown is the checkpoint.
  const auto loaded = LoadSummary(folder_.File("run.utlz"), {.replayed_at_most_bytes = 1000});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_GT(loaded->run().notices_size(), 0);
  EXPECT_NE(loaded->run().notices().rbegin()->find("--recompute"), std::string::npos);
  EXPECT_GT(loaded->kernels_size(), 50);
}

TEST_F(StudyTest, MayBeLeftInTheMiddle) {
  Feed(recorder_.get(), [](size_t) {});
  recorder_->Study([](const RunState& run_state) { Summarize(run_state); });
  recorder_.reset();
}

}  // namespace
}  // namespace utlz
