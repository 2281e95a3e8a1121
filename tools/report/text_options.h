// What the text report shows, and how wide.
#ifndef UTLZ_TOOLS_REPORT_TEXT_OPTIONS_H_
#define UTLZ_TOOLS_REPORT_TEXT_OPTIONS_H_

#include <cstdint>

#include "tools/report/kernel_order.h"

namespace utlz {

enum class GroupBy {
  kKernel,
  kLayer,
  kLine,
  kOperation,
  kNvtx,
  kStream,
  kDevice,
  kProcess,
};

struct TextOptions {
  bool color = false;  // ANSI colours; only for a terminal
  uint32_t top = 15;   // rows of a table
  KernelOrder order = KernelOrder::kSavings;
  GroupBy group_by = GroupBy::kKernel;
  uint32_t columns = 100;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_TEXT_OPTIONS_H_
