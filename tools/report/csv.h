// The kernel table as CSV (RFC 4180), one row a kernel variant, one column a number, with units in
// the header's names. Unknown is an empty cell. Cells that a spreadsheet would take for a formula
// are prefixed with an apostrophe.
#ifndef UTLZ_TOOLS_REPORT_CSV_H_
#define UTLZ_TOOLS_REPORT_CSV_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

std::string RenderCsv(const Summary& summary);
// The same of layers, lines or operations; an empty table where no stacks were recorded.
std::string RenderOwnersCsv(const google::protobuf::RepeatedPtrField<OwnerSummary>& owners);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_CSV_H_
