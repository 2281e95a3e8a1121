#include <gtest/gtest.h>

#include "collector/model/waterfall.h"
#include "tools/compare/diff.h"

namespace utlz {
namespace {

TEST(SliceNameTest, IsTheModels) { EXPECT_STREQ(kStartUpSlice, kSliceOutside); }

}  // namespace
}  // namespace utlz
