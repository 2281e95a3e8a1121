// The options about the model's work, for every subcommand that shows MFU.
#ifndef UTLZ_TOOLS_UTLZ_WORKLOAD_SPEC_OPTIONS_H_
#define UTLZ_TOOLS_UTLZ_WORKLOAD_SPEC_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "tools/model_flops/workload_spec_request.h"

namespace utlz {

// Adds --model-flops-per-step and its like; `request` outlives the parsing.
void AddWorkloadSpecOptions(CLI::App* command, WorkloadSpecRequest* request);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_WORKLOAD_SPEC_OPTIONS_H_
