#include "tools/export/track_lanes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace utlz {
namespace {

class NameSink : public TraceSink {
 public:
  void Begin() override {}
  void Declare(const TraceProcess&) override {}
  void Declare(const TraceTrack& track) override { names.emplace_back(track.name); }
  void Declare(const TraceCounter&) override {}
  void Write(const TraceSlice&) override {}
  void Write(const TraceSample&) override {}
  void End() override {}

  std::vector<std::string> names;
};

TEST(TrackLanesTest, OverlappingSlicesGetRowsOfTheirOwn) {
  NameSink sink;
  TrackLanes lanes(&sink);
  const LaneKey key = {};
  EXPECT_EQ(lanes.Place(key, 0, 10, "stream"), 1u);
  EXPECT_EQ(lanes.Place(key, 10, 20, "stream"), 1u);
  EXPECT_EQ(lanes.Place(key, 15, 18, "stream"), 2u);
  EXPECT_EQ(lanes.Place(key, 20, 30, "stream"), 1u);
  EXPECT_EQ(sink.names, (std::vector<std::string>{"stream", "stream (overlap 2)"}));
}

TEST(TrackLanesTest, ASliceThatComesLateFitsIntoItsGap) {
  NameSink sink;
  TrackLanes lanes(&sink);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(lanes.Place({}, 10 * i, 10 * i + 7, "stream"), 1u);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(lanes.Place({}, 10 * i + 7, 10 * i + 10, "stream"), 1u);
  }
  EXPECT_EQ(lanes.Place({}, 105, 106, "stream"), 2u);
  EXPECT_EQ(lanes.Place({}, 99, 101, "stream"), 2u);
  EXPECT_EQ(lanes.Place({}, 100, 108, "stream"), 3u);
}

TEST(TrackLanesTest, MoreSlicesThanAreRememberedStillMakeOneRow) {
  NameSink sink;
  TrackLanes lanes(&sink);
  constexpr uint64_t kSlices = (1u << 20) + 10;
  for (uint64_t i = 0; i < kSlices; ++i) lanes.Place({}, 10 * i, 10 * i + 7, "stream");
  EXPECT_EQ(sink.names.size(), 1u);
  EXPECT_EQ(lanes.Place({}, 10 * (kSlices - 2) + 8, 10 * (kSlices - 2) + 9, "stream"), 1u);
  EXPECT_EQ(lanes.Place({}, 8, 9, "stream"), 2u) << "what was there is not known any more";
}

TEST(TrackLanesTest, AHostileStormOfOverlapsMakesFewRows) {
  NameSink sink;
  TrackLanes lanes(&sink);
  for (uint64_t i = 0; i < 10000; ++i) EXPECT_TRUE(lanes.Place({}, i, 1'000'000, "stream"));
  EXPECT_LE(sink.names.size(), 16u);
}

}  // namespace
}  // namespace utlz
