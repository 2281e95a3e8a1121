// The report that people read in a terminal: what ran, how much of the GPU it used, where the time
// went, and which kernels could be faster by how much.
//
// At most `columns` wide. A number that is not known shows as "–". Names come from the profiled
// program and are shown escaped (control characters, terminal escapes, invalid UTF-8).
#ifndef UTLZ_TOOLS_REPORT_TEXT_H_
#define UTLZ_TOOLS_REPORT_TEXT_H_

#include <cstdint>
#include <string>

#include "proto/summary.pb.h"
#include "tools/report/kernel_order.h"

namespace utlz {

enum class GroupBy { kKernel, kNvtx, kStream, kDevice, kProcess };

struct TextOptions {
  bool color = false;     // ANSI colours; only for a terminal
  uint32_t top = 15;      // rows of a table
  KernelOrder order = KernelOrder::kRecoverable;
  GroupBy group_by = GroupBy::kKernel;
  uint32_t columns = 100;
};

std::string RenderText(const Summary& summary, const TextOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_TEXT_H_
