// Whether a program trains a model or generates tokens with one, as far as its kernels and steps
// tell.
#ifndef UTLZ_COLLECTOR_ANALYSIS_KIND_OF_PROGRAM_H_
#define UTLZ_COLLECTOR_ANALYSIS_KIND_OF_PROGRAM_H_

#include "collector/analysis/analysis.h"
#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// The program trains: a kernel's name says that it belongs to a backward pass or an optimizer. In a
// compiled program that trains, no name may say so.
bool Learns(const RunState& state, const Analysis& analysis);

// The program generates tokens: it makes calls of many steps, and the first step of a call, which
// reads the prompt, does other work than the steps that follow it.
bool GeneratesTokens(const StepsSummary& steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_KIND_OF_PROGRAM_H_
