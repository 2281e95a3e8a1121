#include "tools/top/screen/chart.h"

#include <gtest/gtest.h>

#include <cmath>

namespace utlz::top {
namespace {

std::string Chart(const std::vector<ChartLine>& lines, bool unicode, double highest = 100) {
  Canvas canvas(4, 2, unicode);
  DrawChart({0, 0, 4, 2}, lines, highest, &canvas);
  return canvas.Text();
}

TEST(Chart, TheNewestIsAtTheRightEdge) {
  EXPECT_EQ(Chart({{{50, 100}, Style::kPlain, true}}, true), "   ⢸\n   ⣿\n");
  EXPECT_EQ(Chart({{{50, 100}, Style::kPlain, true}}, false), "   #\n  ##\n");
}

TEST(Chart, WhatIsUnknownIsNotDrawnAndLittleIs) {
  EXPECT_EQ(Chart({{{std::nullopt, NAN}, Style::kPlain, true}}, true), "\n\n");
  EXPECT_EQ(Chart({{{0, 0.01}, Style::kPlain, true}}, true), "\n   ⣀\n");
}

TEST(Chart, ALineLiesOverAnArea) {
  EXPECT_EQ(Chart({{{50, 50}, Style::kPlain, true}, {{100, 100}, Style::kBold, false}}, true),
            "   ⠉\n   ⣿\n");
}

TEST(Chart, BarsEndAtEighthsAndShowCeilings) {
  Canvas canvas(12, 3, true);
  DrawBar(0, 0, 12, {0.55, std::nullopt, Style::kPlain}, &canvas);
  DrawBar(1, 0, 12, {0.2, 0.9, Style::kPlain}, &canvas);
  DrawBar(2, 0, 12, {std::nullopt, std::nullopt, Style::kPlain}, &canvas);
  EXPECT_EQ(canvas.Text(), "[█████▌    ]\n[██      ┃ ]\n[-         ]\n");
  Canvas ascii(12, 1, false);
  DrawBar(0, 0, 12, {7.0, 0.5, Style::kPlain}, &ascii);
  EXPECT_EQ(ascii.Text(), "[||||!|||||]\n");
}

}  // namespace
}  // namespace utlz::top
