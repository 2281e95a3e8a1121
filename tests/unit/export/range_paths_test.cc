#include "tools/export/range_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Ranges of one thread: start, end, name; of names "a" (1), "b" (2), "c" (3).
class RangePathsTest : public ::testing::Test {
 protected:
  void Add(const std::vector<std::tuple<uint64_t, uint64_t, uint32_t>>& ranges) {
    ProcessState process;
    process.source = 1;
    process.strings = {"", "a", "b", "c"};
    MarkerBatch batch;
    int64_t last_ns = 0;
    for (const auto& [start_ns, end_ns, name] : ranges) {
      batch.add_start_delta_ns(static_cast<int64_t>(start_ns) - last_ns);
      last_ns = static_cast<int64_t>(start_ns);
      batch.add_duration_ns(end_ns - start_ns);
      batch.add_name(name);
    }
    ASSERT_TRUE(paths_.Add(process, batch));
    paths_.Order();
  }
  std::vector<std::string> At(uint64_t time_ns) {
    return paths_.NamesOf(paths_.PathAt(1, 0, time_ns));
  }

  RangePaths paths_;
};

TEST_F(RangePathsTest, NestedRangesComeInnermostFirst) {
  Add({{10, 20, 2}, {5, 100, 1}, {40, 50, 3}});
  EXPECT_THAT(At(4), IsEmpty());
  EXPECT_THAT(At(7), ElementsAre("a"));
  EXPECT_THAT(At(15), ElementsAre("b", "a"));
  EXPECT_THAT(At(20), ElementsAre("a")) << "a range does not hold its end";
  EXPECT_THAT(At(45), ElementsAre("c", "a"));
  EXPECT_THAT(At(100), IsEmpty());
}

TEST_F(RangePathsTest, OfRangesThatStartTogetherTheLongerIsOutside) {
  Add({{10, 20, 2}, {10, 30, 1}});
  EXPECT_THAT(At(10), ElementsAre("b", "a"));
}

TEST_F(RangePathsTest, OverlappingRangesEndEachByItself) {
  Add({{0, 10, 1}, {5, 15, 2}});
  EXPECT_THAT(At(7), ElementsAre("b", "a"));
  EXPECT_THAT(At(12), ElementsAre("b"));
}

TEST_F(RangePathsTest, ColumnsThatDoNotAgreeAreRefused) {
  MarkerBatch batch;
  batch.add_start_delta_ns(1);
  batch.add_name(1);
  EXPECT_FALSE(paths_.Add(ProcessState(), batch));
  EXPECT_TRUE(paths_.empty());
}

}  // namespace
}  // namespace utlz
