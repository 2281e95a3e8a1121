// Kernel time of layers on both sides of a comparison, where stacks of launches were recorded.
// Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_LAYER_CHANGES_H_
#define UTLZ_TOOLS_COMPARE_LAYER_CHANGES_H_

#include <vector>

#include "tools/compare/compare_input.h"
#include "tools/compare/difference.h"

namespace utlz {

// Largest change first. A layer's time has that of the layers inside it. Layers are the same where
// model and path are; nothing where a run has none.
std::vector<LayerChange> CompareLayers(const CompareInput& sides);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_LAYER_CHANGES_H_
