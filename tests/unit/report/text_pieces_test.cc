#include <gtest/gtest.h>

#include <string>

#include "tools/report/text_sections.h"

namespace utlz {
namespace {

TEST(WrapTest, IndentsAndKeepsWords) {
  EXPECT_EQ(Wrap("one two three", 8, 2), "one two\n  three\n");
  EXPECT_EQ(Wrap("one", 8, 2, 2), "  one\n");
}

}  // namespace
}  // namespace utlz
