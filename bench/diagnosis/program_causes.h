// Causes of lost time as programs of today have them. Of each, `share` is one of the planted load's
// time; 0 leaves the draft as it is.
#ifndef UTLZ_BENCH_DIAGNOSIS_PROGRAM_CAUSES_H_
#define UTLZ_BENCH_DIAGNOSIS_PROGRAM_CAUSES_H_

#include "bench/diagnosis/drafts.h"

namespace utlz {

// The host writes each image to a file before it starts the next one.
void PlantImageSaving(double share, Draft* draft);

// Some matrix products run in FP32 without tensor cores, near that roof.
void PlantSinglePrecision(double share, Draft* draft);

// The norm of the gradients is read back before each optimizer's step.
void PlantClippedGradients(double share, Draft* draft);

// An average of the weights, one tiny kernel a tensor, after each step.
void PlantWeightAveraging(double share, Draft* draft);

// The host takes longer before each step than before the last one, as a list grows.
void PlantGrowingHostWork(double share, Draft* draft);

// Ranks of a pipeline wait for the first micro-batch to reach them, and for the last one to return.
void PlantPipelineBubbles(double share, Draft* draft);

// Weights are gathered when their layer needs them, and not before.
void PlantLateGathers(double share, Draft* draft);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_PROGRAM_CAUSES_H_
