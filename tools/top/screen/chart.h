// Bars and charts over time on a canvas: in braille, or in ASCII where the canvas is so.
#ifndef UTLZ_TOOLS_TOP_SCREEN_CHART_H_
#define UTLZ_TOOLS_TOP_SCREEN_CHART_H_

#include <optional>
#include <vector>

#include "tools/top/screen/canvas.h"

namespace utlz::top {

struct Box {
  int row = 0;
  int column = 0;
  int width = 0;
  int height = 0;
};

// Newest last; nothing where it was not known.
using Series = std::vector<std::optional<double>>;

struct ChartLine {
  Series values;
  Style style = Style::kPlain;
  bool filled = false;  // down to the axis
};

// How many values the chart has room for.
int ChartValues(int width, bool unicode);

// The newest values at the right edge, from 0 to `highest`.
void DrawChart(const Box& box, const std::vector<ChartLine>& lines, double highest, Canvas* canvas);

struct Bar {
  std::optional<double> share;  // 0…1
  std::optional<double> mark;   // a ceiling
  Style style = Style::kPlain;
};

// "[||||    ¦  ]" in one row.
void DrawBar(int row, int column, int width, const Bar& bar, Canvas* canvas);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_CHART_H_
