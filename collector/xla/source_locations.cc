#include "collector/xla/source_locations.h"

#include <algorithm>
#include <charconv>

namespace utlz {
namespace {

constexpr int kMostColons = 16;  // in the name of a file

// A number at the begin of `text`, which is taken off it. Nothing where there is none, or where it
// is too large.
std::optional<uint32_t> TakeNumber(std::string_view* text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

// What follows the line's number: ":COLUMN[FUNCTION] OPERATION", of which each part may be absent.
// False where something else does, so that the number is part of the file's name.
bool ReadAfterLine(std::string_view text, XlaLocation* location) {
  if (text.starts_with(':')) {
    text.remove_prefix(1);
    if (!TakeNumber(&text).has_value()) return false;
  }
  if (text.starts_with('[')) {
    // Names of functions have no brackets; what is after them may.
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    location->function = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return true;
  if (text[0] != ' ') return false;
  location->operation = text.substr(1);
  return true;
}

std::optional<XlaLocation> ParseLocation(std::string_view text) {
  size_t colon = text.find(':');
  for (int i = 0; i < kMostColons && colon != std::string_view::npos; ++i) {
    std::string_view rest = text.substr(colon + 1);
    const std::optional<uint32_t> line = TakeNumber(&rest);
    XlaLocation location;
    if (colon > 0 && line.has_value() && ReadAfterLine(rest, &location)) {
      location.file = text.substr(0, colon);
      location.line = *line;
      return location;
    }
    colon = text.find(':', colon + 1);
  }
  return std::nullopt;
}

struct Row {
  size_t depth = 0;  // from 1
  XlaLocation location;
};

std::optional<Row> ParseRow(std::string_view text) {
  const size_t dashes = std::min(text.find_first_not_of('-'), text.size());
  if (dashes == 0 || dashes > kMostXlaCalls || !text.substr(dashes).starts_with(' ')) {
    return std::nullopt;
  }
  const std::optional<XlaLocation> location = ParseLocation(text.substr(dashes + 1));
  if (!location.has_value()) return std::nullopt;
  return Row{dashes, *location};
}

std::vector<Row> ParseRows(std::string_view text) {
  std::vector<Row> rows;
  for (size_t end = text.find('\n');
       end != std::string_view::npos && rows.size() < kMostXlaLocations; end = text.find('\n')) {
    if (const auto row = ParseRow(text.substr(0, end))) rows.push_back(*row);
    text.remove_prefix(end + 1);
  }
  return rows;
}

// Whether `operation` is what is left of an op_name without what it has in common with others. The
// title's common name may itself lack what all op_names of the program begin with.
bool IsNamed(std::string_view op_name, std::string_view operation,
             const std::optional<std::string_view>& common_name) {
  if (op_name == operation) return !common_name.has_value() || common_name->empty();
  if (!common_name.has_value()) return false;
  std::string_view common = op_name;
  if (!operation.empty()) {
    if (!common.ends_with(operation)) return false;
    common.remove_suffix(operation.size());
    if (!common.ends_with('/')) return false;
    common.remove_suffix(1);
  }
  if (!common.ends_with(*common_name)) return false;
  common.remove_suffix(common_name->size());
  return common.empty() || common_name->empty() || common.ends_with('/');
}

XlaCalls CommonPart(const std::vector<const XlaCalls*>& paths) {
  size_t length = paths[0]->size();
  for (const XlaCalls* path : paths) {
    length = std::min(length, path->size());
    for (size_t i = 0; i < length; ++i) {
      if (!(*path)[i].IsAt((*paths[0])[i])) length = i;
    }
  }
  return XlaCalls(paths[0]->begin(), paths[0]->begin() + static_cast<ptrdiff_t>(length));
}

}  // namespace

std::string Unescaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const bool is_less = rest.starts_with("&lt;"), is_more = rest.starts_with("&gt;");
    result += is_less ? '<' : is_more ? '>' : text[i];
    i += is_less || is_more ? 4 : 1;
  }
  return result;
}

std::vector<XlaCalls> ParseXlaLocations(std::string_view text) {
  const std::vector<Row> rows = ParseRows(text);
  std::vector<XlaCalls> paths;
  XlaCalls path;
  for (size_t i = 0; i < rows.size(); ++i) {
    path.resize(std::min(path.size(), rows[i].depth - 1));
    path.push_back(rows[i].location);
    const bool is_innermost = i + 1 == rows.size() || rows[i + 1].depth <= rows[i].depth;
    if (is_innermost) paths.push_back(path);
  }
  return paths;
}

XlaPlace PlaceOfOperation(const std::vector<XlaCalls>& paths, std::string_view op_name,
                          const std::optional<std::string_view>& common_name) {
  std::vector<const XlaCalls*> wanted;
  for (const XlaCalls& path : paths) {
    if (op_name.empty() || IsNamed(op_name, Unescaped(path.back().operation), common_name)) {
      wanted.push_back(&path);
    }
  }
  XlaPlace place;
  place.is_own = !wanted.empty();
  for (size_t i = 0; !place.is_own && i < paths.size(); ++i) wanted.push_back(&paths[i]);
  if (wanted.empty()) return place;
  place.calls = CommonPart(wanted);
  if (place.calls.empty()) place.calls = *wanted[0];
  return place;
}

}  // namespace utlz
