// What Nsight Compute measured for every launch of one step.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_REFERENCE_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_REFERENCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/attribution_check/capture.h"

namespace utlz {

struct ReferenceLaunch {
  KernelKey key;
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double tensor_flops = 0;  // of all data types
  double duration_ns = 0;
};

// Reads `ncu --csv --page raw` rows, one a launch and metric, and averages the files launch by
// launch. They must hold the same launches.
absl::StatusOr<std::vector<ReferenceLaunch>> ReadReference(const std::vector<std::string>& paths);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_REFERENCE_H_
