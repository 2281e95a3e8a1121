// Leaves file paths out of a report about lines: they are as private as command lines.
#ifndef UTLZ_TOOLS_REPORT_STRIP_PATHS_H_
#define UTLZ_TOOLS_REPORT_STRIP_PATHS_H_

#include "proto/summary.pb.h"

namespace utlz {

// Names keep the file's own name and the line.
inline void StripPaths(Summary* summary) {
  if (!summary->has_owners()) return;
  for (OwnerSummary& line : *summary->mutable_owners()->mutable_lines()) line.clear_file();
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_STRIP_PATHS_H_
