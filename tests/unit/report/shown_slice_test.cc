#include "collector/text/shown_slice.h"

#include <gtest/gtest.h>

#include <string>

#include "collector/waterfall_slices.h"
#include "tools/report/markdown.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

TEST(ShownSliceTest, SlicesThatHaveAnotherNameAreTheModels) {
  for (const char* name :
       {kSliceIdleTurnaround, kSliceIdleLaunch, kSliceIdleOther, kSliceLatency, kSliceMixed}) {
    EXPECT_NE(ShownSlice(name), name);
  }
  EXPECT_EQ(ShownSlice(kSliceCopies), kSliceCopies);
  EXPECT_EQ(ShownSlice("of a later release"), "of a later release");
}

TEST(ShownSliceTest, AllFormsUseTheSame) {
  Summary summary;
  summary.mutable_waterfall()->add_slices()->set_name(kSliceMixed);
  const std::string shown = "mixed kernels";
  EXPECT_NE(RenderWaterfall(summary, {}).find(shown), std::string::npos);
  EXPECT_NE(RenderMarkdown(summary, {}).find(shown), std::string::npos);
}

}  // namespace
}  // namespace utlz
