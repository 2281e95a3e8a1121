// Causes that make kernels take longer than good ones: rates, shapes, padding, clocks. Of each,
// `share` is one of the planted load's time; 0 leaves the draft as it is.
#ifndef UTLZ_BENCH_DIAGNOSIS_KERNEL_CAUSES_H_
#define UTLZ_BENCH_DIAGNOSIS_KERNEL_CAUSES_H_

#include "bench/diagnosis/drafts.h"

namespace utlz {

// Normalizations at a fifth of their roof.
void PlantSlowNormalization(double share, Draft* draft);

// Poolings at 15 % of their roof.
void PlantSlowPooling(double share, Draft* draft);

// Short kernels that fill the GPU, at 9 % of their roof.
void PlantLatency(double share, Draft* draft);

// The four matrix kernels with most time in a step lose it alike; their work stays.
void PlantSlowMatrix(double share, Draft* draft);

// Launches of two dozen blocks of what was recorded with enough of them: as long, with so much less
// work.
void PlantSmallGrids(double share, Draft* draft);

// Elementwise kernels near the roof, as many as make the whole step's share of them.
void PlantElementwise(double share, Draft* draft);

// Products of one row in tiles of eight, as a decoder has them: seven eighths of their FLOPs are
// padding, and a batch of eight would take no longer.
void PlantPaddedTiles(double share, Draft* draft);

// Every product works on rows that hold nothing. The run says how many FLOPs the model needs.
void PlantPadding(double share, Draft* draft);

// The GPU is too hot: its clock falls, and every kernel takes longer.
void PlantHeat(double share, Draft* draft);

// One kernel, and only that, loses the time: attention's backward pass.
void PlantOneSlowKernel(double share, Draft* draft);

// A loop of one kernel that streams, farther from the roof.
void PlantSlowLoop(double share, Draft* draft);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_KERNEL_CAUSES_H_
