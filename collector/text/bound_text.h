// What bounds a kernel, in the words of every table. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_TEXT_BOUND_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_BOUND_TEXT_H_

#include "proto/summary.pb.h"

namespace utlz {

// "compute", "memory", "latency", "communication", "mixed"; kUnknown where it is not known.
const char* BoundText(Bound bound);
// The same in at most 7 characters, for narrow columns.
const char* ShortBoundText(Bound bound);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_BOUND_TEXT_H_
