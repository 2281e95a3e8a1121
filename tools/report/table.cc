#include "tools/report/table.h"

#include <algorithm>
#include <utility>

#include "collector/text/shown_text.h"

namespace utlz {
namespace {

constexpr size_t kMinimumFreeWidth = 16;

const char* CodeOf(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kHeading:
      return "\033[1m";
    case Style::kFaint:
      return "\033[2m";
    case Style::kGood:
      return "\033[32m";
    case Style::kWarning:
      return "\033[33m";
    case Style::kBad:
      return "\033[31m";
  }
  return "";
}

}  // namespace

std::string Styled(std::string text, Style style, bool color) {
  if (!color || style == Style::kPlain) return text;
  return CodeOf(style) + std::move(text) + "\033[0m";
}

std::string RightAligned(const std::string& text, size_t columns) {
  return std::string(columns - std::min(columns, ColumnsOf(text)), ' ') + text;
}

std::string LeftAligned(const std::string& text, size_t columns) {
  return text + std::string(columns - std::min(columns, ColumnsOf(text)), ' ');
}

Table::Table(std::vector<Column> columns, size_t total_width)
    : columns_(std::move(columns)), total_width_(total_width) {
  size_t used = columns_.empty() ? 0 : columns_.size() - 1;
  for (const Column& column : columns_) used += column.width;
  free_width_ = std::max(kMinimumFreeWidth, total_width > used ? total_width - used : 0);
  for (Column& column : columns_) {
    if (column.width == 0) {
      column.width = free_width_;
      column.left = true;
      break;
    }
  }
}

void Table::AddRow(std::vector<std::string> cells, Style style) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), style});
}

void Table::AddNote(std::string text, Style style) {
  rows_.push_back({{std::move(text)}, style, true});
}

std::string Table::RenderCells(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const std::string cell = column.left ? CutMiddle(cells[i], column.width) : cells[i];
    const size_t columns = ColumnsOf(cell);
    const std::string padding(column.width > columns ? column.width - columns : 0, ' ');
    if (i > 0) line += ' ';
    line += column.left ? cell + padding : padding + cell;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string Table::Render(bool color) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = Styled(RenderCells(titles), Style::kFaint, color) + "\n";
  for (const Row& row : rows_) {
    const std::string line =
        row.is_note ? CutEnd(row.cells[0], total_width_) : RenderCells(row.cells);
    text += Styled(line, row.style, color) + "\n";
  }
  return text;
}

}  // namespace utlz
