// Measures what the GPUs of this machine attain and keeps it (docs/reference/commands.md,
// utlz calibrate).
#ifndef UTLZ_TOOLS_CALIBRATE_CALIBRATE_H_
#define UTLZ_TOOLS_CALIBRATE_CALIBRATE_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace utlz {

struct CalibrateOptions {
  std::optional<int> device;   // ordinal, as CUDA counts them; all where it is not given
  std::string cublas_lt_path;  // a libcublasLt to use, alone
  std::string folder;          // where ceilings are kept
  bool force = false;          // measure a GPU that others use too
  // One line for people, without a newline.
  std::function<void(const std::string& line)> print;
};

// Every GPU in turn, each for at most about 20 seconds. The first error, after
// all were tried.
absl::Status Calibrate(const CalibrateOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_CALIBRATE_H_
