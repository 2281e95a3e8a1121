#include "inject/primary_contexts.h"

namespace utlz::inject {
namespace {

// What this thread calls meanwhile cannot invalidate a stream capture of another thread.
class AsideOfCaptures {
 public:
  explicit AsideOfCaptures(const CudaApi& cuda) : exchange_(cuda.thread_exchange_capture_mode) {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  ~AsideOfCaptures() {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  AsideOfCaptures(const AsideOfCaptures&) = delete;
  AsideOfCaptures& operator=(const AsideOfCaptures&) = delete;

 private:
  cuda::Result (*exchange_)(int*);
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED, then the thread's own
};

}  // namespace

PrimaryContexts::PrimaryContexts(const CudaApi& cuda) : devices_(DevicesWithPrimaryContext(cuda)) {
  const AsideOfCaptures aside(cuda);
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
  const AsideOfCaptures aside(cuda);
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

}  // namespace utlz::inject
