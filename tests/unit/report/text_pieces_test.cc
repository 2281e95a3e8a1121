#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "collector/text/wrapped_text.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

TEST(WrapTest, IndentsAndKeepsWords) {
  EXPECT_EQ(Wrap("one two three", 8, 2), "one two\n  three\n");
  EXPECT_EQ(Wrap("one", 8, 2, 2), "  one\n");
}

TEST(BarTest, IsAsLongAsTheShareAndNoLongerThanTheWhole) {
  EXPECT_EQ(Bar(0.5, 4), "██");
  EXPECT_EQ(Bar(7, 3), "███");
  for (const double share : {0.0, -1.0, std::nan("")}) EXPECT_EQ(Bar(share, 30), "") << share;
}

TEST(TextStepsTest, SaysWhereTheLongestPauseIs) {
  Summary summary;
  StepsSummary* steps = summary.mutable_steps();
  steps->set_steps(4);
  steps->set_warmup_steps(1);
  for (const double time_ns : {9e9, 1e6, 3e9, 1e6}) steps->add_time_ns(time_ns);
  EXPECT_EQ(RenderSteps(summary, {}).find("pause"), std::string::npos);
  steps->set_pause_time_ns(1e9);
  const std::string text = RenderSteps(summary, {.columns = 1000});
  EXPECT_NE(text.find("the longest pause is in step 2"), std::string::npos) << text;
  EXPECT_NE(text.find("with pauses"), std::string::npos) << text;
  steps->set_steps(5'000);
  EXPECT_EQ(RenderSteps(summary, {}).find("longest"), std::string::npos) << "not all are listed";
}

}  // namespace
}  // namespace utlz
