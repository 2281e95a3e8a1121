// CUPTI numbers what a program launches, whether it records it or not, and every call that somebody
// watches. So a call of ours that launches nothing, watched for its own duration, tells how many
// operations there were since the last record (docs/decisions/0016-gaps-are-counted-by-numbers.md).
#ifndef UTLZ_INJECT_OWN_CALL_H_
#define UTLZ_INJECT_OWN_CALL_H_

#include "inject/cuda_api.h"
#include "inject/cupti_api.h"

namespace utlz::inject {

// The number of a call of cuDeviceGetCount that this makes; 0 where it has none, because another
// client has CUPTI's one subscription or CUDA is being taken down. Changes no kind of record, so
// other threads may launch meanwhile. A few microseconds; not from a callback of CUPTI's.
uint32_t NumberOfOwnCall(const CuptiApi& cupti, const CudaApi& cuda);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_OWN_CALL_H_
