// Kernel time of layers on both sides of a comparison, where stacks of launches were recorded.
// Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_LAYER_CHANGES_H_
#define UTLZ_TOOLS_COMPARE_LAYER_CHANGES_H_

#include "tools/compare/compare_input.h"
#include "tools/compare/difference.h"

namespace utlz {

// Fills Difference.layers and repeated_layers, largest change first. A layer's time has that of the
// layers inside it. Layers are the same where model and path are, and repeat where only numbers in
// their paths differ. Nothing where a run has none.
void CompareLayers(const CompareInput& sides, Difference* difference);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_LAYER_CHANGES_H_
