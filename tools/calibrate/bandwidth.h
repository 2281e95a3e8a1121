// How fast this GPU moves bytes through its memory: by a copy and by a triad of
// arrays far beyond its cache, both kernels of our own.
#ifndef UTLZ_TOOLS_CALIBRATE_BANDWIDTH_H_
#define UTLZ_TOOLS_CALIBRATE_BANDWIDTH_H_

#include "absl/status/statusor.h"
#include "tools/calibrate/gpu.h"
#include "tools/calibrate/steady_rate.h"

namespace utlz {

struct Bandwidth {
  double copy_bytes_per_second = 0;   // read and written
  double triad_bytes_per_second = 0;  // two arrays read, one written
};

absl::StatusOr<Bandwidth> MeasureBandwidth(const Gpu& gpu, const SteadyRateOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_BANDWIDTH_H_
