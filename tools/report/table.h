// A table of text in columns, numbers to the right, no line wider than asked.
#ifndef UTLZ_TOOLS_REPORT_TABLE_H_
#define UTLZ_TOOLS_REPORT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace utlz {

// How a line of text is coloured; plain where colour is off.
enum class Style { kPlain, kHeading, kFaint, kGood, kWarning, kBad };
std::string Styled(std::string text, Style style, bool color);

// With spaces before, or after it, up to `columns`; a longer text as it is.
std::string RightAligned(const std::string& text, size_t columns);
std::string LeftAligned(const std::string& text, size_t columns);

class Table {
 public:
  struct Column {
    std::string title;
    size_t width;  // 0: what the other columns leave (the first such column)
    bool left = false;
  };

  Table(std::vector<Column> columns, size_t total_width);

  // One cell a column, already escaped. Cells of the free column are cut in the middle; other
  // cells that are too long push their row out of line rather than lose digits.
  void AddRow(std::vector<std::string> cells, Style style = Style::kPlain);
  // Text below the last row, across all columns, and cut at its end where it is wider.
  void AddNote(std::string text, Style style = Style::kFaint);
  bool empty() const { return rows_.empty(); }
  // Width of the free column.
  size_t free_width() const { return free_width_; }

  std::string Render(bool color) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
    bool is_note = false;
  };

  std::string RenderCells(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  size_t free_width_ = 0, total_width_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_TABLE_H_
