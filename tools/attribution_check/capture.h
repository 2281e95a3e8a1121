// A recording of kernel launches and device counters, as text files NAME.k, .names and .pm.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_CAPTURE_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_CAPTURE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz {

// A function with one grid: what launches are compared by.
struct KernelKey {
  std::string name;  // mangled
  std::array<uint32_t, 3> grid{};
  auto operator<=>(const KernelKey&) const = default;
};

struct CapturedLaunch {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  size_t key = 0;  // index into Capture::keys
};

struct CapturedSample {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double tensor_active_cycles = 0;  // mean over the multiprocessors
};

struct Capture {
  std::vector<KernelKey> keys;
  std::vector<CapturedLaunch> launches;  // sorted by start; those without times first
  std::vector<CapturedSample> samples;   // sorted by start, without the file's first
  size_t doubled_launches = 0;           // rows like another in all that counts, left out
};

// Reads PREFIX.k.gz, PREFIX.names.gz and PREFIX.pm.gz. The first sample of a session is garbage
// and left out. Errors name the file and line.
absl::StatusOr<Capture> ReadCapture(const std::string& prefix);

// Whether the launch's times can be true.
bool IsPlaced(const CapturedLaunch& launch);

// Copies and sets that a recording names among its kernels.
bool IsCopyName(const std::string& name);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_CAPTURE_H_
