// A snapshot as one line of JSON (docs/reference/top_json.md).
#ifndef UTLZ_TOOLS_TOP_SNAPSHOT_JSON_H_
#define UTLZ_TOOLS_TOP_SNAPSHOT_JSON_H_

#include <string>

#include "tools/top/snapshot.h"

namespace utlz::top {

// Ends with a line feed. A key whose value is unknown is absent.
std::string SnapshotJson(const Snapshot& snapshot);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SNAPSHOT_JSON_H_
