// The parts of the summary that list what was recorded: the run, its processes and streams, copies.
#ifndef UTLZ_COLLECTOR_SUMMARY_RUN_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_RUN_SUMMARY_H_

#include <string>

#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// "traced", or why not.
std::string DescribeAgent(const ProcessState& process);

void SummarizeRun(const RunState& state, Summary* summary);
void SummarizeProcesses(const RunState& state, Summary* summary);  // and their streams
void SummarizeCopies(const RunState& state, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_RUN_SUMMARY_H_
