#include "tools/top/screen/canvas.h"

#include <gtest/gtest.h>

namespace utlz::top {
namespace {

TEST(Canvas, HoldsOneCharacterACellWhateverComes) {
  Canvas canvas(8, 1, true);
  // An escape, half a character, one that is two columns wide, one that has no width.
  EXPECT_EQ(canvas.Put(0, 0, "a\x1b\xe2\xe7\x95\x8c\xcc\x81é"), 6);
  EXPECT_EQ(canvas.Text(), "a????é\n");
}

TEST(Canvas, PutsNothingOutsideOfItself) {
  Canvas canvas(4, 2, true);
  canvas.Put(0, 2, "abcdef");
  canvas.Put(1, -2, "abcd");
  canvas.Put(2, 0, "x");
  canvas.Put(-1, 0, "x");
  EXPECT_EQ(canvas.Text(), "  ab\ncd\n");
}

TEST(Canvas, EndsWhereItIsTold) {
  Canvas canvas(9, 2, true);
  canvas.Put(0, 1, "abcdef", Style::kPlain, 4);
  canvas.PutRight(1, 5, "12");
  EXPECT_EQ(canvas.Text(), " abc\n   12\n");
}

TEST(Canvas, AsciiTerminalsGetAscii) {
  Canvas canvas(9, 1, false);
  canvas.Put(0, 0, "3 µs · 4…█");
  EXPECT_EQ(canvas.Text(), "3 us - 4~\n");
}

}  // namespace
}  // namespace utlz::top
