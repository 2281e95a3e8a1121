#include <gtest/gtest.h>

#include <iterator>

#include "collector/summary/waterfall.h"
#include "tools/compare/slice_names.h"

namespace utlz {
namespace {

TEST(SliceNameTest, AreTheModels) {
  const char* expected[] = {kSliceOutside, kSliceStartUp,  kSliceEnd,
                            kSlicePauses,  kSliceUntraced, kSliceSlowdown};
  ASSERT_EQ(std::size(kSlicesOutsideSteps), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_STREQ(kSlicesOutsideSteps[i], expected[i]);
  }
}

}  // namespace
}  // namespace utlz
