// What reports for people call bounds and slices. JSON has the names of the schema.
#ifndef UTLZ_TOOLS_REPORT_SHOWN_NAMES_H_
#define UTLZ_TOOLS_REPORT_SHOWN_NAMES_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

const char* ShownBound(Bound bound);
// The same in at most 7 characters, for a column of a table.
const char* ShortBound(Bound bound);

// `name`: WaterfallSlice.name. The page has the same table (waterfall.tsx).
std::string ShownSlice(const std::string& name);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_SHOWN_NAMES_H_
