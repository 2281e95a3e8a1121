// How many blocks of a kernel run on a GPU at once, and what of its time its last wave wastes.
//
// Limits by compute capability: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability". Only what a launch record tells is looked at (threads, registers, shared memory).
#ifndef UTLZ_COLLECTOR_ANALYSIS_OCCUPANCY_H_
#define UTLZ_COLLECTOR_ANALYSIS_OCCUPANCY_H_

#include <cstdint>

#include "collector/run/process_table.h"

namespace utlz {

// Blocks on one multiprocessor at once; 0 where the capability or the shape is not known.
uint32_t BlocksPerMultiprocessor(const VariantShape& shape, uint32_t capability_major,
                                 uint32_t capability_minor);

// Share of the time of a launch of more than one wave in which multiprocessors have run out of
// blocks, if all blocks take as long: 1 − waves ÷ waves rounded up. 0 for one wave or less (then
// the launch is small, not its tail), and where something is not known.
double TailShare(const VariantShape& shape, const Device& device);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_OCCUPANCY_H_
