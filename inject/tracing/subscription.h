// CUPTI's one subscription to callbacks, which the agent never keeps: other tools want it.
#ifndef UTLZ_INJECT_TRACING_SUBSCRIPTION_H_
#define UTLZ_INJECT_TRACING_SUBSCRIPTION_H_

#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"

namespace utlz::agent {

// Subscribes and ends that at once. The first subscription of a process is a danger to it where
// kinds of records are on: threads that launch at that moment crash in CUPTI 13.0.85, one time in
// two. Where none was ever on, it is not, and neither is any later one
// (docs/decisions/0018-the-first-subscription-comes-early.md). So this is called before anything is
// switched on. False if another client is subscribed: then the first subscription was that
// client's, unless it uses another copy of CUPTI.
bool PrepareSubscriptions(const CuptiApi& cupti);

// The number of a call of cuDeviceGetCount that this makes, 0 where it has none, because another
// client is subscribed or CUDA is being taken down. CUPTI numbers what a program launches, whether
// it records it or not, and every call that is watched: so this number counts the operations there
// were since the last record (docs/decisions/0016-gaps-are-counted-by-numbers.md). Changes no kind
// of record, so other threads may launch meanwhile. Microseconds; not from a callback of CUPTI's.
uint32_t NumberOfOwnCall(const CuptiApi& cupti, const CudaApi& cuda);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_SUBSCRIPTION_H_
