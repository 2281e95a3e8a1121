#include "collector/kernel_names/tile_rows.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace utlz {

int RowsOfTile(std::string_view mangled_name) {
  if (mangled_name.find("nvjet") == std::string_view::npos) return 0;
  for (size_t at = mangled_name.find('_'); at != std::string_view::npos;
       at = mangled_name.find('_', at + 1)) {
    int width = 0;
    int height = 0;
    const char* const end = mangled_name.data() + mangled_name.size();
    const auto first = std::from_chars(mangled_name.data() + at + 1, end, width);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') continue;
    const auto second = std::from_chars(first.ptr + 1, end, height);
    if (second.ec == std::errc()) return std::min(width, height);
  }
  return 0;
}

}  // namespace utlz
