// Sentences about the libcupti that the user named with --cupti: where it could not be used, and
// what it means that it was loaded beside the program's own.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_CUPTI_NOTICES_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_CUPTI_NOTICES_H_

#include <string>

#include "collector/run/run_state.h"
#include "proto/ring_abi.h"
#include "proto/summary.pb.h"

namespace utlz {

// Why the file does not trace, and what does; empty where it does, or where none was named.
// `error`: the dynamic loader's, or empty.
std::string DescribeNamedCupti(NamedCupti fate, const std::string& path, const std::string& error);

// Adds them to the run's notices.
void AddCuptiNotices(const RunState& state, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_CUPTI_NOTICES_H_
