#include "tools/calibrate/bandwidth.h"

#include <algorithm>
#include <memory>

namespace utlz {
namespace {

constexpr size_t kLargestArray = size_t{1} << 30;
constexpr size_t kVectorBytes = 16;
constexpr double kMsPerSecond = 1e3;

}  // namespace

absl::StatusOr<Bandwidth> MeasureBandwidth(const Gpu& gpu, const SteadyRateOptions& options) {
  const absl::StatusOr<size_t> free_bytes = gpu.FreeBytes();
  if (!free_bytes.ok()) return free_bytes.status();
  // A GPU that others use is left its memory.
  const size_t bytes = std::min(kLargestArray, *free_bytes / 8) / 4096 * 4096;
  std::unique_ptr<DeviceMemory> arrays[3];
  CudaPointer pointers[3];
  for (int i = 0; i < 3; ++i) {
    absl::StatusOr<std::unique_ptr<DeviceMemory>> array = gpu.Allocate(bytes);
    if (!array.ok()) return array.status();
    arrays[i] = *std::move(array);
    pointers[i] = arrays[i]->pointer();
  }
  uint64_t vectors = bytes / kVectorBytes;
  // Floats between a half and one, either sign.
  uint32_t or_mask = 0x3f000000;
  uint32_t and_mask = 0x807fffff;
  for (CudaPointer& pointer : pointers) {
    void* fill[] = {&pointer, &vectors, &or_mask, &and_mask, &or_mask, &and_mask};
    if (absl::Status status = gpu.Launch("utlz_fill", fill); !status.ok()) return status;
  }
  void* copy[] = {&pointers[0], &pointers[1], &vectors};
  void* triad[] = {&pointers[0], &pointers[1], &pointers[2], &vectors};
  const auto copy_ms = SteadyMs(
      gpu, [&] { return gpu.Launch("utlz_copy", copy); }, options);
  if (!copy_ms.ok()) return copy_ms.status();
  const auto triad_ms = SteadyMs(
      gpu, [&] { return gpu.Launch("utlz_triad", triad); }, options);
  if (!triad_ms.ok()) return triad_ms.status();
  const auto array_bytes = static_cast<double>(bytes);
  return Bandwidth{.copy_bytes_per_second = 2 * array_bytes / *copy_ms * kMsPerSecond,
                   .triad_bytes_per_second = 3 * array_bytes / *triad_ms * kMsPerSecond};
}

}  // namespace utlz
