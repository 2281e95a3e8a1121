#include "tools/report/shown_names.h"

#include <gtest/gtest.h>

#include <string>

#include "collector/summary/waterfall.h"
#include "tools/report/markdown.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

TEST(ShownNamesTest, SlicesThatHaveAnotherNameAreTheModels) {
  for (const char* name :
       {kSliceIdleTurnaround, kSliceIdleLaunch, kSliceIdleOther, kSliceLatency, kSliceMixed}) {
    EXPECT_NE(ShownSlice(name), name);
  }
  EXPECT_EQ(ShownSlice(kSliceCopies), kSliceCopies);
  EXPECT_EQ(ShownSlice("of a later release"), "of a later release");
}

TEST(ShownNamesTest, AllFormsUseTheSame) {
  Summary summary;
  summary.mutable_waterfall()->add_slices()->set_name(kSliceMixed);
  const std::string shown = "mixed kernels";
  EXPECT_NE(RenderWaterfall(summary, {}).find(shown), std::string::npos);
  EXPECT_NE(RenderMarkdown(summary, {}).find(shown), std::string::npos);
}

TEST(ShownNamesTest, ShortBoundsFitTheirColumn) {
  for (int bound = Bound_MIN; bound <= Bound_MAX; ++bound) {
    if (!Bound_IsValid(bound)) continue;
    EXPECT_LE(std::string(ShortBound(static_cast<Bound>(bound))).size(), 7u) << bound;
  }
  EXPECT_STREQ(ShownBound(BOUND_COMMUNICATION), "communication");
}

}  // namespace
}  // namespace utlz
