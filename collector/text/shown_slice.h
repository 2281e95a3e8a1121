// What reports and comparisons for people call the slices of the waterfall. JSON has the names of
// the schema.
#ifndef UTLZ_COLLECTOR_TEXT_SHOWN_SLICE_H_
#define UTLZ_COLLECTOR_TEXT_SHOWN_SLICE_H_

#include <string>

namespace utlz {

// `name`: WaterfallSlice.name. The page has the same table (waterfall.tsx).
std::string ShownSlice(const std::string& name);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_SHOWN_SLICE_H_
