// Which Python files Inductor, the compiler of torch.compile, generated: by their names. What
// agents read and what reports count as a compiler's is the same.
#ifndef UTLZ_PROTO_INDUCTOR_FILE_H_
#define UTLZ_PROTO_INDUCTOR_FILE_H_

#include <cstddef>
#include <string_view>

namespace utlz {

// A name is "c" with 51 digits of base 32, ".py", in a folder named like the first two digits:
// ".../vf/cvfnlph2rexckjx35keg6krmrqqup2kqsiynf2k55vps2wms46o4.py".
constexpr bool IsInductorFile(std::string_view path) {
  constexpr size_t kDigits = 51, kFolderBytes = 3;
  constexpr std::string_view kEnding = ".py";
  constexpr size_t kNameBytes = 1 + kDigits + kEnding.size();
  if (path.size() < kFolderBytes + kNameBytes) return false;
  path.remove_prefix(path.size() - kFolderBytes - kNameBytes);
  const std::string_view name = path.substr(kFolderBytes);
  if (path[2] != '/' || name[0] != 'c' || name.substr(1 + kDigits) != kEnding ||
      path.substr(0, 2) != name.substr(1, 2)) {
    return false;
  }
  for (const char digit : name.substr(1, kDigits)) {
    if ((digit < 'a' || digit > 'z') && (digit < '2' || digit > '7')) return false;
  }
  return true;
}

}  // namespace utlz

#endif  // UTLZ_PROTO_INDUCTOR_FILE_H_
