// The FLOP/s that belong to a GPU's HFU. Its FLOP/s of all types may be far more. Pure,
// thread-safe.
#ifndef UTLZ_TOOLS_REPORT_TENSOR_RATE_H_
#define UTLZ_TOOLS_REPORT_TENSOR_RATE_H_

#include <optional>

#include "proto/summary.pb.h"

namespace utlz {

// HFU times the mean peak of the GPU's kernels. Each type's peak is weighed by the time that its
// FLOPs take at that peak. Nothing where HFU or the kernels' FLOPs are not known.
std::optional<double> TensorFlopsPerSecond(const Summary& summary, const DeviceSummary& device);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_TENSOR_RATE_H_
