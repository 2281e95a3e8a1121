// The kernels of a recorded profile and the order in which a step launches them: what generated
// loads are made of. Work is taken from the summary that the profile holds, as it was recorded, so
// that a change of the analysis changes no load.
#ifndef UTLZ_BENCH_DIAGNOSIS_RECORDED_LOAD_H_
#define UTLZ_BENCH_DIAGNOSIS_RECORDED_LOAD_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/profile.pb.h"

namespace utlz {

// What counters count, of one launch: by metric of kSampledMetrics (sampled_metrics.h).
struct LaunchWork {
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double tensor_cycles = 0;     // summed over the GPU's pipes
  double sm_active_cycles = 0;  // summed over its multiprocessors
  double fma_instructions = 0;  // of warps

  LaunchWork Scaled(double factor) const;
};

struct RecordedKernel {
  std::string name;  // mangled
  std::string short_name;
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  uint32_t registers = 0;
  uint32_t shared_bytes = 0;
  double time_ns = 0;          // of a launch, mean
  double compute_time_ns = 0;  // of its FLOPs at the peak of the highest clock
  double memory_time_ns = 0;   // of its bytes at the peak of DRAM
  double sm_active_share = 0;  // of its time
  LaunchWork work;

  bool Is(std::string_view fragment) const { return name.find(fragment) != std::string::npos; }
  double Blocks() const { return 1.0 * grid[0] * grid[1] * grid[2]; }
  double RoofNs() const {
    return compute_time_ns > memory_time_ns ? compute_time_ns : memory_time_ns;
  }
};

struct RecordedLoad {
  std::string path;
  Device device;
  DevicePeaks peaks;
  std::vector<RecordedKernel> kernels;  // with counters
  std::vector<uint32_t> step;           // of a typical step, in order: indices of `kernels`

  bool Has(std::string_view fragment) const;
};

// What becomes of kernels whose counters the recording does not know.
enum class UncountedKernels {
  kLeftOut,
  kAssumed,  // they get a third of what the GPU can do at most; products alone of tensor cycles
};

// Refused: what is no profile, holds no summary, or has neither steps nor tokens in it.
absl::StatusOr<RecordedLoad> ReadRecordedLoad(
    const std::string& path, UncountedKernels uncounted = UncountedKernels::kLeftOut);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_RECORDED_LOAD_H_
