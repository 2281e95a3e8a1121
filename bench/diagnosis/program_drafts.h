// Healthy programs of several phases or models: image samplers, learning from own generations,
// speculative decoding, prompts in chunks, another model's evaluation, long start-ups, servers that
// wait for requests, and a script without steps.
#ifndef UTLZ_BENCH_DIAGNOSIS_PROGRAM_DRAFTS_H_
#define UTLZ_BENCH_DIAGNOSIS_PROGRAM_DRAFTS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "bench/diagnosis/drafts.h"

namespace utlz {

// Nothing where there is no such load, or the recordings that it is made from were not given.
std::optional<Draft> ProgramDraft(std::string_view name, const Recordings& recordings);

const std::vector<const char*>& ProgramLoads();

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_PROGRAM_DRAFTS_H_
