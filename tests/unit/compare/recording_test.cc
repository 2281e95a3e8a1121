// Comparisons on the bundled recording of a real training step, against itself and against a copy
// in which one kernel is slower.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "collector/decode/launch_decoder.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/launch_encoder.h"
#include "tools/compare/gate.h"
#include "tools/merge/frame_shift.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

constexpr char kSlowed[] = "FusedAdam";

// Every launch of one kernel takes longer, and all that comes after it comes later.
class Slowdown {
 public:
  explicit Slowdown(uint64_t longer_ns) : longer_ns_(longer_ns) {}

  // First every frame is shown, since batches of different streams overtake each other …
  void See(const FrameView& frame) {
    if (frame.type == FRAME_STRINGS) SeeStrings(frame);
    if (frame.type == FRAME_VARIANTS) SeeVariants(frame);
    if (frame.type != FRAME_LAUNCHES) return;
    for (const Launch& launch : decoder_.Decode(frame.payload)->launches) {
      if (slowed_[{frame.source, launch.variant}]) delay_by_end_[launch.end_ns] = 0;
    }
  }

  void Prepare() {
    uint64_t delay_ns = 0;
    for (auto& [end_ns, delay] : delay_by_end_) delay = delay_ns += longer_ns_;
  }

  // … then each is changed.
  std::string Apply(const FrameView& frame) {
    if (frame.type == FRAME_LAUNCHES) return Slowed(frame);
    if (frame.type == FRAME_RUN_END) {
      RunEnd end;
      EXPECT_TRUE(end.ParseFromString(std::string(frame.payload)));
      end.set_time_ns(Later(end.time_ns()));
      return end.SerializeAsString();
    }
    std::string moved;
    uint64_t time_ns = 0;
    if (!ShiftFrame(frame.type, frame.payload, {}, &moved, &time_ns))
      return std::string(frame.payload);
    const FrameShift later = {.earlier_ns = static_cast<int64_t>(time_ns - Later(time_ns))};
    EXPECT_TRUE(ShiftFrame(frame.type, frame.payload, later, &moved, &time_ns));
    return moved;
  }

 private:
  uint64_t Later(uint64_t time_ns) const {
    const auto after = delay_by_end_.upper_bound(time_ns);
    return after == delay_by_end_.begin() ? time_ns : time_ns + std::prev(after)->second;
  }

  void SeeStrings(const FrameView& frame) {
    Strings strings;
    ASSERT_TRUE(strings.ParseFromString(std::string(frame.payload)));
    for (int i = 0; i < strings.values_size(); ++i) {
      names_[{frame.source, strings.first() + static_cast<uint32_t>(i)}] = strings.values(i);
    }
  }

  void SeeVariants(const FrameView& frame) {
    Variants variants;
    ASSERT_TRUE(variants.ParseFromString(std::string(frame.payload)));
    for (int i = 0; i < variants.name_size(); ++i) {
      const std::string& name = names_[{frame.source, variants.name(i)}];
      slowed_[{frame.source, variants.first() + static_cast<uint32_t>(i)}] =
          name.find(kSlowed) != std::string::npos;
    }
  }

  std::string Slowed(const FrameView& frame) {
    DecodedLaunches changed = *decoder_.Decode(frame.payload);
    for (Launch& launch : changed.launches) {
      launch.start_ns = Later(launch.start_ns);
      launch.end_ns = Later(launch.end_ns);
    }
    return EncodeLaunches(changed).SerializeAsString();
  }

  uint64_t longer_ns_;
  LaunchDecoder decoder_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> names_;  // (source, identifier)
  std::map<std::pair<uint32_t, uint32_t>, bool> slowed_;        // (source, variant)
  std::map<uint64_t, uint64_t> delay_by_end_;
};

// Times only: samples would no longer lie where the kernels are.
Summary Replay(uint64_t longer_ns) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(UTLZ_RECORDING);
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  Slowdown slowdown(longer_ns);
  for (FrameView frame; reader->Next(&frame);) slowdown.See(frame);
  slowdown.Prepare();
  reader->Rewind();
  RunIntake intake;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SAMPLES || frame.type == FRAME_RANGES) continue;
    intake.Consume(frame.source, frame.type, slowdown.Apply(frame));
  }
  intake.EndOfInput();
  return Summarize(intake.Advance());
}

TEST(RecordingComparisonTest, AgainstItselfThereIsNoDifference) {
  const Summary run = Replay(0);
  ASSERT_GT(run.kernels_size(), 50);
  ASSERT_GT(run.steps().steps(), 90u);
  const Difference difference = Diff(run, run);
  EXPECT_FALSE(difference.HasDifference());
  EXPECT_THAT(difference.verdict, HasSubstr("no difference"));
  const GateResult gate = Gate({run}, {run});
  EXPECT_EQ(gate.outcome, GateOutcome::kPass) << gate.reasons[0];
  EXPECT_EQ(gate.measure, "step time");
}

TEST(RecordingComparisonTest, ASlowerKernelIsNamedAndFailsTheGate) {
  const Summary before = Replay(0);
  const Summary after = Replay(300'000);
  const Difference difference = Diff(before, after);
  ASSERT_FALSE(difference.kernels.empty());
  EXPECT_THAT(difference.kernels[0].name_after, HasSubstr(kSlowed));
  for (const KernelChange& kernel : difference.kernels) {
    const bool slowed = kernel.name_after.find(kSlowed) != std::string::npos;
    EXPECT_EQ(kernel.time_ns.verdict == Verdict::kIncrease, slowed) << kernel.name_after;
  }
  EXPECT_THAT(difference.verdict, HasSubstr(kSlowed));
  const GateResult gate = Gate({before}, {after});
  EXPECT_EQ(gate.outcome, GateOutcome::kRegression) << gate.reasons[0];
}

}  // namespace
}  // namespace utlz
