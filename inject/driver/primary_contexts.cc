#include "inject/driver/primary_contexts.h"

#include "inject/driver/scoped_relaxed_capture_mode.h"

namespace utlz::agent {
PrimaryContexts::PrimaryContexts(const CudaApi& cuda) : devices_(DevicesWithPrimaryContext(cuda)) {
  const ScopedRelaxedCaptureMode aside(cuda);
  for (int ordinal = 0; ordinal < static_cast<int>(kMost); ++ordinal) {
    int device = 0;
    if ((devices_ >> ordinal & 1) == 0 || cuda.device_get(&device, ordinal) != cuda::kSuccess ||
        cuda.primary_retain(&contexts_[count_], device) != cuda::kSuccess) {
      continue;
    }
    cuda.primary_release(device);
    ++count_;
  }
}

uint64_t DevicesWithPrimaryContext(const CudaApi& cuda) {
  int count = 0;
  if (cuda.primary_get_state == nullptr || cuda.primary_retain == nullptr ||
      cuda.primary_release == nullptr || cuda.device_get_count(&count) != cuda::kSuccess) {
    return 0;
  }
  const ScopedRelaxedCaptureMode aside(cuda);
  uint64_t devices = 0;
  for (int ordinal = 0; ordinal < count && ordinal < static_cast<int>(PrimaryContexts::kMost);
       ++ordinal) {
    int device = 0;
    unsigned flags = 0;
    int active = 0;
    if (cuda.device_get(&device, ordinal) == cuda::kSuccess &&
        cuda.primary_get_state(device, &flags, &active) == cuda::kSuccess && active != 0) {
      devices |= uint64_t{1} << ordinal;
    }
  }
  return devices;
}

}  // namespace utlz::agent
