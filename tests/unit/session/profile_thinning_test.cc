#include "collector/session/profile_thinning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "collector/profile/profile_reader.h"
#include "collector/session/run_recorder.h"
#include "collector/windows/trace_coverage.h"
#include "proto/profile.pb.h"
#include "proto/ring_abi.h"
#include "tests/support/launch_encoder.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/temporary_folder.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string Launches(uint64_t base_ns) {
  LaunchBatch batch;
  batch.set_base_ns(base_ns);
  batch.set_launches(1);
  return batch.SerializeAsString();
}

std::string Window(uint64_t start_ns, uint64_t end_ns) {
  TraceWindow window;
  window.set_start_ns(start_ns);
  window.set_end_ns(end_ns);
  window.set_flags(kTraceKernels);
  return window.SerializeAsString();
}

class ProfileThinningTest : public ::testing::Test {
 protected:
  struct Frame {
    uint32_t source;
    uint16_t type;
    std::string payload;
  };

  void Offer(uint32_t source, uint16_t type, const std::string& payload) {
    thinning_.Offer(source, type, payload, start_ + passed_, bytes_,
                    [this](uint32_t of, uint16_t kept, std::string_view content) {
                      bytes_ += content.size();
                      written_.push_back({of, kept, std::string(content)});
                    });
  }
  size_t Written(uint16_t type) const {
    size_t frames = 0;
    for (const Frame& frame : written_) frames += frame.type == type ? 1 : 0;
    return frames;
  }
  // Time that a reader of the profile takes for traced.
  uint64_t TracedNs(uint32_t source, uint64_t now_ns) const {
    TraceCoverage coverage;
    for (const Frame& frame : written_) {
      TraceWindow window;
      if (frame.source != source || frame.type != FRAME_TRACE_WINDOW) continue;
      EXPECT_TRUE(window.ParseFromString(frame.payload));
      coverage.Add(window);
    }
    return coverage.TracedNs(now_ns);
  }
  // The profile is full, or has room for another window.
  void Fill() { bytes_ = 1 << 20; }
  void Empty() { bytes_ = 0; }

  ProfileThinning::Clock::time_point start_ = ProfileThinning::Clock::now();
  ProfileThinning thinning_{{.burst_bytes = 1000, .bytes_per_second = 10, .window_bytes = 500},
                            start_};
  seconds passed_{0};
  uint64_t bytes_ = 0;
  std::vector<Frame> written_;
};

TEST_F(ProfileThinningTest, AShortRunIsWrittenAsItComes) {
  const std::string window = Window(5, 0);
  Offer(1, FRAME_TRACE_WINDOW, window);
  Offer(1, FRAME_LAUNCHES, Launches(7));
  Offer(0, FRAME_SAMPLES, "samples");
  ASSERT_EQ(written_.size(), 3u);
  EXPECT_EQ(written_[0].payload, window);
  EXPECT_EQ(written_[1].payload, Launches(7));
  EXPECT_EQ(written_[2].source, 0u);
  EXPECT_FALSE(thinning_.thinned());
}

TEST_F(ProfileThinningTest, WhatDescribesIsAlwaysWritten) {
  Fill();
  for (const FrameType type : {FRAME_PROCESS, FRAME_STRINGS, FRAME_VARIANTS, FRAME_AGENT_STATUS,
                               FRAME_RANGES, FRAME_PROCESS_END, FRAME_METRIC_SET, FRAME_RUN_END}) {
    Offer(1, static_cast<uint16_t>(type), "some");
  }
  EXPECT_EQ(written_.size(), 8u);
  EXPECT_FALSE(thinning_.thinned());
  for (const FrameType type : {FRAME_LAUNCHES, FRAME_COPIES, FRAME_MARKERS, FRAME_SAMPLES}) {
    Offer(1, static_cast<uint16_t>(type), "some");
  }
  EXPECT_EQ(written_.size(), 8u);
  EXPECT_TRUE(thinning_.thinned());
}

// Ten thousand frames of each type that an agent may use, known or not.
TEST_F(ProfileThinningTest, NoFloodOfAnAgentPassesTheAllowance) {
  constexpr uint64_t kMost = 1000 + 20'000;
  for (uint16_t type = 0; type < FRAME_METRIC_SET; ++type) {
    ProfileThinning thinning({.burst_bytes = 1000,
                              .bytes_per_second = 10,
                              .window_bytes = 500,
                              .description_bytes = 20'000},
                             start_);
    uint64_t bytes = 0;
    for (int i = 0; i < 10'000; ++i) {
      thinning.Offer(
          1, type, std::string(100, 'x'), start_, bytes,
          [&bytes](uint32_t, uint16_t, std::string_view content) { bytes += content.size(); });
    }
    EXPECT_LE(bytes, kMost) << type;
    EXPECT_TRUE(thinning.thinned() || thinning.descriptions_left_out()) << type;
    EXPECT_EQ(bytes <= 1100, thinning.thinned())
        << type << ": records leave room for what describes";
  }
}

TEST_F(ProfileThinningTest, AProfileHasAMaximumHoweverLongTheRun) {
  ProfileThinning thinning({.bytes_per_second = 1000, .maximum_bytes = 10'000}, start_);
  const auto later = start_ + hours(1000);
  uint64_t bytes = 0;
  const auto write = [&bytes](uint32_t, uint16_t, std::string_view content) {
    bytes += content.size();
  };
  for (const FrameType type : {FRAME_LAUNCHES, FRAME_STRINGS, FRAME_TRACE_WINDOW}) {
    for (int i = 0; i < 1000; ++i) {
      thinning.Offer(1, static_cast<uint16_t>(type), std::string(100, 'x'), later, bytes, write);
    }
  }
  EXPECT_LE(bytes, 10'100u);
  EXPECT_FALSE(thinning.HasRoom(later, 10'001));
  thinning.Offer(0, FRAME_RUN_END, "the end", later, bytes, write);
  EXPECT_GT(bytes, 10'000u) << "what the collector says of the run is always written";
}

TEST_F(ProfileThinningTest, WritesAgainWhenAWindowFits) {
  Offer(0, FRAME_SAMPLES, std::string(1001, 's'));
  Offer(0, FRAME_SAMPLES, "s");
  EXPECT_EQ(Written(FRAME_SAMPLES), 1u);
  passed_ = seconds(49);  // 490 bytes were saved since
  Offer(0, FRAME_SAMPLES, "s");
  EXPECT_EQ(Written(FRAME_SAMPLES), 1u);
  passed_ = seconds(51);
  Offer(0, FRAME_SAMPLES, std::string(100, 's'));
  Offer(0, FRAME_SAMPLES, std::string(400, 's'));
  EXPECT_EQ(Written(FRAME_SAMPLES), 3u);
  Offer(0, FRAME_SAMPLES, std::string(400, 's'));
  EXPECT_EQ(Written(FRAME_SAMPLES), 4u) << "until nothing is left";
  Offer(0, FRAME_SAMPLES, "s");
  EXPECT_EQ(Written(FRAME_SAMPLES), 4u);
}

TEST_F(ProfileThinningTest, WindowsSayWhoseLaunchesAreThere) {
  Offer(1, FRAME_TRACE_WINDOW, Window(100, 0));
  Offer(2, FRAME_TRACE_WINDOW, Window(150, 0));
  Offer(1, FRAME_LAUNCHES, Launches(100));
  Fill();
  Offer(1, FRAME_LAUNCHES, Launches(300));
  Offer(1, FRAME_LAUNCHES, Launches(400));
  Empty();
  Offer(1, FRAME_COPIES, "of a time whose launches are left out");
  Offer(1, FRAME_LAUNCHES, Launches(700));
  Offer(1, FRAME_COPIES, "copies");
  EXPECT_EQ(Written(FRAME_COPIES), 1u);
  EXPECT_EQ(TracedNs(1, 900), 200u + 200u);
  Offer(1, FRAME_TRACE_WINDOW, Window(100, 1000));
  EXPECT_EQ(TracedNs(1, 2000), 200u + 300u);
  EXPECT_EQ(TracedNs(2, 2000), 1850u) << "it launched nothing that was left out";
  Offer(1, FRAME_TRACE_WINDOW, Window(1500, 0));
  EXPECT_EQ(written_.back().payload, Window(1500, 0));
}

TEST_F(ProfileThinningTest, WindowsThatOpenAndCloseInBetween) {
  Offer(1, FRAME_TRACE_WINDOW, Window(100, 0));
  Fill();
  Offer(1, FRAME_LAUNCHES, Launches(300));
  Offer(1, FRAME_TRACE_WINDOW, Window(100, 500));
  Offer(1, FRAME_TRACE_WINDOW, Window(600, 0));
  Offer(1, FRAME_LAUNCHES, Launches(600));
  Offer(1, FRAME_TRACE_WINDOW, Window(600, 650));
  EXPECT_EQ(TracedNs(1, 1000), 200u);
  Offer(1, FRAME_TRACE_WINDOW, Window(800, 0));
  Empty();
  // A straggler of the window before.
  Offer(1, FRAME_LAUNCHES, Launches(640));
  EXPECT_EQ(TracedNs(1, 1000), 200u + 200u);
}

TEST_F(ProfileThinningTest, ADayAtFullRateTakesAGigabyte) {
  ProfileThinning thinning({}, start_);
  const std::string batch(32 << 10, 'b');  // eight a second: 256 KiB
  uint64_t bytes = 0;
  for (milliseconds at{0}; at < hours(24); at += milliseconds(125)) {
    thinning.Offer(1, FRAME_LAUNCHES, batch, start_ + at, bytes,
                   [&](uint32_t, uint16_t, std::string_view payload) { bytes += payload.size(); });
  }
  EXPECT_LE(bytes, 1'000'000'000u + batch.size());
  EXPECT_GT(bytes, 950'000'000u);
}

// A target that sends nothing but frames of a type that nobody knows, and names without end.
TEST(ThinnedProfile, SaysThatDescriptionsWereLeftOut) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.utlz");
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  RunRecorder recorder(*std::move(writer), ProfileAllowance{.burst_bytes = 20'000,
                                                            .bytes_per_second = 0,
                                                            .window_bytes = 1000,
                                                            .description_bytes = 20'000});
  for (uint32_t i = 0; i < 1000; ++i) {
    recorder.Record(1, 30, std::string(1000, 'x'));
    Strings strings;
    strings.set_first(i + 1);
    strings.add_values(std::string(1000, 'n'));
    recorder.Record(1, FRAME_STRINGS, strings.SerializeAsString());
  }
  const Summary summary = recorder.Finish(RunEnd());
  EXPECT_LT(std::filesystem::file_size(path), 100'000u);
  EXPECT_THAT(summary.run().notices(), Contains(HasSubstr("than a profile may hold")));
}

// Killed or not, recorded whole or in windows, the report is of every launch.
TEST(ThinnedProfile, TellsTheWholeRun) {
  constexpr uint64_t kBatches = 400, kLaunchesInBatch = 500;
  for (const bool killed : {false, true}) {
    const TemporaryFolder folder;
    const std::string path = folder.File("run.utlz");
    absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path);
    ASSERT_TRUE(writer.ok()) << writer.status();
    auto recorder = std::make_unique<RunRecorder>(
        *std::move(writer),
        ProfileAllowance{.burst_bytes = 20000, .bytes_per_second = 0, .window_bytes = 1000});
    Process process;
    process.set_pid(77);
    recorder->Record(1, FRAME_PROCESS, process.SerializeAsString());
    recorder->Record(1, FRAME_TRACE_WINDOW, Window(kSecondNs, 0));
    uint64_t now_ns = kSecondNs;
    for (uint64_t batch = 0; batch < kBatches; ++batch) {
      DecodedLaunches launches;
      for (uint64_t i = 0; i < kLaunchesInBatch; ++i) {
        launches.launches.push_back(
            {.start_ns = now_ns, .end_ns = now_ns + 5000, .variant = 0, .correlation = 0});
        now_ns += 5000 + (i * 7919 + batch * 31) % 4000;
      }
      launches.segments.push_back(
          {.launches = kLaunchesInBatch, .stream = 7, .context = 1, .graph_correlation = 0});
      recorder->Record(1, FRAME_LAUNCHES, EncodeLaunches(launches).SerializeAsString());
    }
    recorder->BeginCheckpoint();
    recorder->CatchUpWithAll();
    if (!killed) {
      ProcessEnd process_end;
      process_end.set_time_ns(now_ns);
      recorder->Record(1, FRAME_PROCESS_END, process_end.SerializeAsString());
      RunEnd end;
      end.set_time_ns(now_ns);
      recorder->Finish(end);
    }
    recorder.reset();

    const absl::StatusOr<Summary> summary = LoadSummary(path, {.replayed_at_most_bytes = 0});
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->capture().launches(), kBatches * kLaunchesInBatch);
    const absl::StatusOr<Summary> replayed = ReplayProfile(path);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_LT(replayed->capture().launches(), kBatches * kLaunchesInBatch / 4);
    EXPECT_GT(replayed->capture().launches(), kLaunchesInBatch);
    if (!killed) {
      EXPECT_LT(replayed->capture().coverage_share(), 0.3);
    }
  }
}

TEST(ProfileThinning, WhatIsAskedForIsKept) {
  const ProfileThinning::Clock::time_point start{hours(1)};
  ProfileThinning thinning({.burst_bytes = 10,
                            .bytes_per_second = 0,
                            .window_bytes = 10,
                            .description_bytes = 1 << 20,
                            .maximum_bytes = 1 << 20,
                            .kept_bytes = 1000},
                           start);
  const std::string launches = Launches(kSecondNs);
  int written = 0;
  const auto offer = [&](seconds passed, uint64_t bytes) {
    written = 0;
    thinning.Offer(1, FRAME_LAUNCHES, launches, start + passed, bytes,
                   [&](uint32_t, uint16_t type, std::string_view) {
                     written += type == FRAME_LAUNCHES ? 1 : 0;
                   });
    return written == 1;
  };
  EXPECT_FALSE(offer(seconds(1), 100));
  thinning.KeepFor(seconds(10), start + seconds(1));
  EXPECT_TRUE(offer(seconds(2), 100));
  EXPECT_TRUE(offer(seconds(2), 1099));
  EXPECT_FALSE(offer(seconds(3), 1100)) << "there is a limit";
  thinning.KeepFor(seconds(10), start + seconds(4));
  EXPECT_TRUE(offer(seconds(5), 1100));
  EXPECT_FALSE(offer(seconds(14), 1200)) << "the time is over";
}

}  // namespace
}  // namespace utlz
