// What the person said of the model's work, when the run began and later.
#ifndef UTLZ_COLLECTOR_RUN_WORKLOAD_SPEC_H_
#define UTLZ_COLLECTOR_RUN_WORKLOAD_SPEC_H_

#include "proto/profile.pb.h"

namespace utlz {

// `later` goes before `earlier`: its FLOPs, if it has any, replace all that was said of them.
WorkloadSpec JoinWorkloadSpec(const WorkloadSpec& earlier, const WorkloadSpec& later);

// FLOPs of a step, from those of a token where only they are known; 0 = not known.
double FlopsPerStep(const WorkloadSpec& work);

// Whether FLOPs, tokens or items of a step are known.
bool GivesWork(const WorkloadSpec& work);

// Whether the FLOPs are known to be of forward passes alone, such as prefill and decode.
bool IsForwardOnly(const WorkloadSpec& work);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_WORKLOAD_SPEC_H_
