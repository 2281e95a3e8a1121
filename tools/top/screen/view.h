// What a person looks at: the page, the order and choice of rows, and what is selected. Keys change
// it (keys.h), draw.h shows it.
#ifndef UTLZ_TOOLS_TOP_SCREEN_VIEW_H_
#define UTLZ_TOOLS_TOP_SCREEN_VIEW_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "tools/top/screen/history.h"

namespace utlz::top {

enum class Page : uint8_t { kMain, kProcess, kWork, kHelp };

// Of the table of processes.
enum class SortKey : uint8_t {
  kNatural,  // by GPU, as NVML lists them
  kPid,
  kUser,
  kGpuMemory,
  kStep,
  kHfu,
  kCpu,
  kHostMemory,
  kAge,
};
inline constexpr int kSortKeys = 9;

// Where the arrow keys move.
enum class Focus : uint8_t { kProcesses, kWork };

struct View {
  // Of the terminal.
  int width = 80;
  int height = 24;
  bool unicode = true;
  double interval_seconds = 1;
  uid_t user = 0;

  Page page = Page::kMain;
  Page page_below_help = Page::kMain;
  SortKey sort = SortKey::kNatural;
  bool reversed = false;
  bool tree = false;
  bool only_own = false;
  std::string filter = {};
  bool types_filter = false;
  bool names_sort_key = false;  // 'o' was typed, and a letter is to come
  std::set<unsigned> hidden_gpus = {};
  std::set<pid_t> tagged = {};
  std::set<pid_t> folded = {};  // in the tree, their children are not shown
  Focus focus = Focus::kProcesses;
  std::optional<pid_t> process = {};  // selected
  WorkKind listed = WorkKind::kKernels;
  std::optional<WorkId> work = {};  // selected in that list
  size_t first_process = 0;         // at the top of the table
  size_t first_work = 0;
  size_t help_line = 0;
  size_t ticks_a_dot = 1;  // of charts
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_VIEW_H_
