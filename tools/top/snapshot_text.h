// A snapshot as plain lines, for pipes, logs and any terminal.
#ifndef UTLZ_TOOLS_TOP_SNAPSHOT_TEXT_H_
#define UTLZ_TOOLS_TOP_SNAPSHOT_TEXT_H_

#include <string>

#include "tools/top/snapshot.h"

namespace utlz::top {

// One line a GPU. It starts with the local time, and leaves out what is unknown.
std::string SnapshotLines(const Snapshot& snapshot);

// The same, and each GPU's processes below it.
std::string SnapshotPage(const Snapshot& snapshot);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SNAPSHOT_TEXT_H_
