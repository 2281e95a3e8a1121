// A grid of characters with styles: what a screen is before a terminal shows it.
//
// Whatever text is put on it, each cell holds one printable character that is one column wide:
// control characters, invalid UTF-8, and characters that are wider or narrower become '?'.
// Thread safety: none.
#ifndef UTLZ_TOOLS_TOP_SCREEN_CANVAS_H_
#define UTLZ_TOOLS_TOP_SCREEN_CANVAS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace utlz::top {

// What a cell means, not how it looks: the terminal chooses colors that suit light and dark.
enum class Style : uint8_t {
  kPlain,
  kDim,
  kBold,
  kCompute,
  kMemory,
  kMislead,  // GPU-Util
  kGood,
  kBad,
  kTitle,     // of a table
  kSelected,  // a row of a table
  kTagged,
  kBar,  // the line of keys
};

struct Cell {
  std::string text = " ";  // UTF-8
  Style style = Style::kPlain;

  friend bool operator==(const Cell&, const Cell&) = default;
};

class Canvas {
 public:
  // Where it says no, characters beyond ASCII become ASCII ones or '?'.
  Canvas(int width, int height, bool unicode);

  int width() const { return width_; }
  int height() const { return height_; }
  bool unicode() const { return unicode_; }

  // From this column on, up to `end` or the right edge. Returns the column after the last
  // character. Nothing is put outside the grid.
  int Put(int row, int column, std::string_view text, Style style = Style::kPlain,
          int end = 1 << 20);
  // The same, ending before `end`.
  void PutRight(int row, int end, std::string_view text, Style style = Style::kPlain);
  // A whole row.
  void Fill(int row, Style style);

  const Cell& At(int row, int column) const;

  // Rows without styles and trailing blanks, each ended by a line feed.
  std::string Text() const;

 private:
  const int width_;
  const int height_;
  const bool unicode_;
  std::vector<Cell> cells_;
};

// Columns that text takes on a canvas.
int ColumnsOnCanvas(std::string_view text);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_CANVAS_H_
