// Healthy loads whose model is divided among ranks: weights that are gathered layer by layer, and
// layers that are handed from rank to rank; and GPUs of one process.
#ifndef UTLZ_BENCH_DIAGNOSIS_SHARDED_DRAFTS_H_
#define UTLZ_BENCH_DIAGNOSIS_SHARDED_DRAFTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/diagnosis/drafts.h"

namespace utlz {

// Nothing where there is no such load, or the recording that it is made from was not given.
std::optional<Draft> ShardedDraft(std::string_view name, const Recordings& recordings);

const std::vector<const char*>& ShardedLoads();

// Of "pipeline".
inline constexpr size_t kPipelineRanks = 4;

// Into "data_parallel": the first GPU copies weights to the other one before each step, and
// gradients back after it, while no kernel runs; `share` of the time in all.
void PlantPeerCopies(double share, Draft* draft);

// The collective of that kind that the draft's kernels hold ("AllGather", "SendRecv").
uint32_t CommunicationKernel(std::string_view kind, const PlannedRun& run);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_SHARDED_DRAFTS_H_
