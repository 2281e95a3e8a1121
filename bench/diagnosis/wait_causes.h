// Causes that make the GPU wait: the host, copies, other ranks, first calls. Of each, `share` is
// one of the planted load's time; 0 leaves the draft as it is.
#ifndef UTLZ_BENCH_DIAGNOSIS_WAIT_CAUSES_H_
#define UTLZ_BENCH_DIAGNOSIS_WAIT_CAUSES_H_

#include "bench/diagnosis/drafts.h"

namespace utlz {

// The host launches too slowly: a gap after each kernel.
void PlantLaunchGaps(double share, Draft* draft);

// Each step waits for a batch, which a copy then brings.
void PlantLateInput(double share, Draft* draft);

// The host reads four results of each step, and waits after each.
void PlantReadbacks(double share, Draft* draft);

// Copies from memory that is not pinned, while no kernel runs.
void PlantPageableCopies(double share, Draft* draft);

// Copies from pinned memory, while no kernel runs.
void PlantExposedCopies(double share, Draft* draft);

// A collective at the end of each step, which no kernel hides.
void PlantExposedCommunication(double share, Draft* draft);

// The last rank takes longer for each step; the others wait for it.
void PlantStraggler(double share, Draft* draft);

// By turns one rank's batch is longer than the mean and the other's shorter: each waits half of the
// time, and neither is always the last.
void PlantUnevenBatches(double share, Draft* draft);

// The first step of each new shape waits before its attention kernel, as for a plan that is made
// once; all of the waits together are `share` of the steps' time.
void PlantFirstCalls(double share, Draft* draft);

// One gap at the end of each step.
void PlantGapsBetweenSteps(double share, Draft* draft);

// Three gaps inside each step.
void PlantGapsInside(double share, Draft* draft);

// Each twentieth step waits for its data, all others find it there.
void PlantRareStalls(double share, Draft* draft);

// A checkpoint each fortieth step: weights go to the host, which then writes them.
void PlantCheckpoints(double share, Draft* draft);

// Nothing but launches of 4 µs, each with its gap.
void PlantTinyKernels(double share, Draft* draft);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_WAIT_CAUSES_H_
