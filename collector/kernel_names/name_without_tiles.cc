#include "collector/kernel_names/name_without_tiles.h"

#include "collector/kernel_names/kernel_name.h"

namespace utlz {
namespace {

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

// Where the word begins that has a tile such as `128x64`.
size_t TileBegin(std::string_view name) {
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] != 'x' || !IsDigit(name[i - 1]) || !IsDigit(name[i + 1])) continue;
    const size_t word = name.rfind('_', i);
    return word == std::string_view::npos ? 0 : word;
  }
  return std::string_view::npos;
}

}  // namespace

std::string NameWithoutTiles(std::string_view mangled_name) {
  const std::string name = ShortenKernelName(DemangleKernelName(mangled_name));
  return name.substr(0, TileBegin(name));
}

}  // namespace utlz
