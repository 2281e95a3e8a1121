// Healthy loads as people run them every day: steps of unequal length or of two kinds, evaluations
// between them, several streams and processes, requests that come in bursts.
#ifndef UTLZ_BENCH_DIAGNOSIS_EVERYDAY_DRAFTS_H_
#define UTLZ_BENCH_DIAGNOSIS_EVERYDAY_DRAFTS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "bench/diagnosis/drafts.h"

namespace utlz {

// Nothing where there is no such load, or the recording that it is made from was not given.
std::optional<Draft> EverydayDraft(std::string_view name, const Recordings& recordings);

const std::vector<const char*>& EverydayLoads();

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_EVERYDAY_DRAFTS_H_
