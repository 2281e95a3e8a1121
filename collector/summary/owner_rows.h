// The rows of the report that say what owners of work have: a list of owners in the order in which
// people read it, with the kernels that an owner's own work is of.
#ifndef UTLZ_COLLECTOR_SUMMARY_OWNER_ROWS_H_
#define UTLZ_COLLECTOR_SUMMARY_OWNER_ROWS_H_

#include <cstddef>

#include "collector/summary/owner_list.h"

namespace utlz {

using OwnerRows = google::protobuf::RepeatedPtrField<OwnerSummary>;

// Each owner after the one around it, layers first, by name. `all_ns`: what shares are of.
void WriteTree(const OwnerList& list, double all_ns, OwnerRows* rows);

// Most time with the idle time before it first. At most `most_rows`, and one more, `name_of_rest`,
// for what is beyond.
void WriteByWeight(const OwnerList& list, double all_ns, bool with_idle, size_t most_rows,
                   const char* name_of_rest, OwnerRows* rows);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_OWNER_ROWS_H_
