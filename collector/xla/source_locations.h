// The source locations of an instruction of XLA: a tree of calls, the outermost function first, in
// which the number of dashes is the depth. Several innermost lines are several operations that were
// fused; where their names differ, each has its own after it, without what all have in common.
//
//   - /home/me/train.py:31:18[step]
//   -- /home/me/model.py:15:15[Block.__call__] add
//   -- /home/me/model.py:15:19[Block.__call__]
//   --- /home/me/model.py:9:15[Mlp.__call__] mlp/mul
//
// Trust: texts come from targets. Any bytes are safe; lines and depth are bounded. Thread safety:
// functions only.
#ifndef UTLZ_COLLECTOR_XLA_SOURCE_LOCATIONS_H_
#define UTLZ_COLLECTOR_XLA_SOURCE_LOCATIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace utlz {

inline constexpr size_t kMostXlaLocations = 1024;  // those after them are left out
inline constexpr size_t kMostXlaCalls = 128;       // in each other; those inside are left out

// Parts of the text that was read, as XLA escaped them: Unescaped gives the names.
struct XlaLocation {
  std::string_view file;
  std::string_view function;   // "main.&lt;locals&gt;.loss_of"; empty where not known
  std::string_view operation;  // what is after it; empty where all operations are of one name
  uint32_t line = 0;           // 0: not known

  bool IsAt(const XlaLocation& other) const {
    return line == other.line && file == other.file && function == other.function;
  }
};

// One path of the tree, the outermost call first.
using XlaCalls = std::vector<XlaLocation>;

// The paths to all innermost lines, in the order of the text. A last line without an end was cut,
// and is left out.
std::vector<XlaCalls> ParseXlaLocations(std::string_view text);

struct XlaPlace {
  XlaCalls calls;
  // False where it is of others that were fused with the operation, whose own is not known.
  bool is_own = false;
};

// Where an operation stands. Where several paths lead to it, or none, what these paths have in
// common; the first one where that is nothing. Without an op_name all paths lead to it.
// `common_name` is the title's.
XlaPlace PlaceOfOperation(const std::vector<XlaCalls>& paths, std::string_view op_name,
                          const std::optional<std::string_view>& common_name);

// "<locals>" of "&lt;locals&gt;".
std::string Unescaped(std::string_view text);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_XLA_SOURCE_LOCATIONS_H_
