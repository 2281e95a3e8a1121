// The report that people read in a terminal: what ran, how much of the GPU it used, where the time
// went, and which kernels could be faster by how much.
//
// At most `columns` wide. A number that is not known shows as "–". Names come from the profiled
// program and are shown escaped (control characters, terminal escapes, invalid UTF-8).
#ifndef UTLZ_TOOLS_REPORT_TEXT_H_
#define UTLZ_TOOLS_REPORT_TEXT_H_

#include <string>

#include "proto/summary.pb.h"
#include "tools/report/text_options.h"

namespace utlz {

std::string RenderText(const Summary& summary, const TextOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_TEXT_H_
