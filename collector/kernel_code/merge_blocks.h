// Makes a description of code smaller without changing what it says.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_MERGE_BLOCKS_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_MERGE_BLOCKS_H_

#include <vector>

#include "collector/kernel_code/kernel_code.h"

namespace utlz {

// Joins blocks that follow each other without a choice. The first stays the first. `lanes_may_join`
// tells of each block whether warps that went through it apart may go on together; such a block is
// joined with none behind it. All indices must be right.
void MergeBlocks(std::vector<bool> lanes_may_join, std::vector<CodeBlock>* blocks);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_MERGE_BLOCKS_H_
