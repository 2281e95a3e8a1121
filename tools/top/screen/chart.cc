#include "tools/top/screen/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace utlz::top {
namespace {

constexpr int kDotsAcross = 2;
constexpr int kDotsDown = 4;
// Bits of U+2800 by column and row of the dot.
constexpr std::array<std::array<int, kDotsDown>, kDotsAcross> kDotBits = {
    {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};

struct Dots {
  int bits = 0;
  Style style = Style::kPlain;
};

std::string BrailleCharacter(int bits) {
  // U+2800 to U+28FF in three bytes.
  return {static_cast<char>(0xe2), static_cast<char>(0xa0 | (bits >> 6)),
          static_cast<char>(0x80 | (bits & 0x3f))};
}

// Dots from the axis, 1 to `most`; 0: unknown.
int HeightOf(const std::optional<double>& value, double highest, int most) {
  if (!value || !std::isfinite(*value) || highest <= 0) return 0;
  const double share = std::clamp(*value / highest, 0.0, 1.0);
  return std::clamp(static_cast<int>(std::lround(share * most)), 1, most);
}

std::optional<double> FromEnd(const Series& values, int back) {
  const auto size = static_cast<int>(values.size());
  return back < size ? values[static_cast<size_t>(size - 1 - back)] : std::nullopt;
}

void AddDots(const ChartLine& line, double highest, int width, int height,
             std::vector<Dots>* grid) {
  const int across = kDotsAcross * width;
  for (int x = 0; x < across; ++x) {
    const int top = HeightOf(FromEnd(line.values, across - 1 - x), highest, kDotsDown * height);
    for (int level = top; level > 0; --level) {
      const int y = kDotsDown * height - level;  // from the top
      Dots& dots = (*grid)[static_cast<size_t>((y / kDotsDown) * width + x / kDotsAcross)];
      // The line before it keeps its color where both are.
      if (dots.bits == 0) dots.style = line.style;
      dots.bits |=
          kDotBits[static_cast<size_t>(x % kDotsAcross)][static_cast<size_t>(y % kDotsDown)];
      if (!line.filled) break;
    }
  }
}

void DrawBraille(const Box& box, const std::vector<ChartLine>& lines, double highest,
                 Canvas* canvas) {
  std::vector<Dots> grid(static_cast<size_t>(box.width * box.height));
  for (const ChartLine& line : lines) AddDots(line, highest, box.width, box.height, &grid);
  for (int row = 0; row < box.height; ++row) {
    for (int column = 0; column < box.width; ++column) {
      const Dots& dots = grid[static_cast<size_t>(row * box.width + column)];
      if (dots.bits == 0) continue;
      canvas->Put(box.row + row, box.column + column, BrailleCharacter(dots.bits), dots.style);
    }
  }
}

// One value a column; the top of an area says how far into its row it reaches.
void DrawAscii(const Box& box, const std::vector<ChartLine>& lines, double highest,
               Canvas* canvas) {
  constexpr int kLevels = 3;
  constexpr std::array<const char*, kLevels + 1> kTops = {" ", ".", "-", "#"};
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    for (int column = 0; column < box.width; ++column) {
      const int top =
          HeightOf(FromEnd(line->values, box.width - 1 - column), highest, kLevels * box.height);
      if (top == 0) continue;
      const int row = box.height - 1 - (top - 1) / kLevels;
      const int level = (top - 1) % kLevels + 1;
      canvas->Put(box.row + row, box.column + column,
                  line->filled ? kTops[static_cast<size_t>(level)] : "*", line->style);
      for (int below = row + 1; line->filled && below < box.height; ++below) {
        canvas->Put(box.row + below, box.column + column, "#", line->style);
      }
    }
  }
}

}  // namespace

int ChartValues(int width, bool unicode) { return unicode ? kDotsAcross * width : width; }

void DrawChart(const Box& box, const std::vector<ChartLine>& lines, double highest,
               Canvas* canvas) {
  if (box.width <= 0 || box.height <= 0) return;
  if (canvas->unicode()) {
    DrawBraille(box, lines, highest, canvas);
  } else {
    DrawAscii(box, lines, highest, canvas);
  }
}

void DrawBar(int row, int column, int width, const Bar& bar, Canvas* canvas) {
  if (width < 3) return;
  const int inner = width - 2;
  canvas->Put(row, column, "[", Style::kBold);
  canvas->Put(row, column + width - 1, "]", Style::kBold);
  const double share = std::clamp(bar.share.value_or(0), 0.0, 1.0);
  if (canvas->unicode()) {
    constexpr std::array<const char*, 9> kEighths = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    const auto eighths = static_cast<int>(std::lround(share * inner * 8));
    for (int i = 0; i < inner; ++i) {
      const int level = std::clamp(eighths - 8 * i, 0, 8);
      if (level > 0) {
        canvas->Put(row, column + 1 + i, kEighths[static_cast<size_t>(level)], bar.style);
      }
    }
  } else {
    const auto full = static_cast<int>(std::lround(share * inner));
    for (int i = 0; i < full; ++i) canvas->Put(row, column + 1 + i, "|", bar.style);
  }
  if (!bar.share) canvas->Put(row, column + 1, "-", Style::kDim);
  if (!bar.mark) return;
  const int at = std::clamp(static_cast<int>(std::lround(*bar.mark * inner)), 1, inner);
  canvas->Put(row, column + at, canvas->unicode() ? "┃" : "!", Style::kBold);
}

}  // namespace utlz::top
