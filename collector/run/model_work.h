// What the person told of the model's work, when the run began and later.
#ifndef UTLZ_COLLECTOR_RUN_MODEL_WORK_H_
#define UTLZ_COLLECTOR_RUN_MODEL_WORK_H_

#include "proto/profile.pb.h"

namespace utlz {

// `later` goes before `earlier`: its FLOPs, if it has any, replace all that was said of them.
ModelWork JoinModelWork(const ModelWork& earlier, const ModelWork& later);

// FLOPs of a step, from those of a token where only they are known; 0 = not known.
double FlopsPerStep(const ModelWork& work);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_MODEL_WORK_H_
