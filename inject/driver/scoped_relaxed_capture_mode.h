// What this thread calls meanwhile cannot invalidate a stream capture of another thread.
#ifndef UTLZ_INJECT_DRIVER_SCOPED_RELAXED_CAPTURE_MODE_H_
#define UTLZ_INJECT_DRIVER_SCOPED_RELAXED_CAPTURE_MODE_H_

#include "inject/driver/cuda_api.h"

namespace utlz::agent {

class ScopedRelaxedCaptureMode {
 public:
  explicit ScopedRelaxedCaptureMode(const CudaApi& cuda)
      : exchange_(cuda.thread_exchange_capture_mode) {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  ~ScopedRelaxedCaptureMode() {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  ScopedRelaxedCaptureMode(const ScopedRelaxedCaptureMode&) = delete;
  ScopedRelaxedCaptureMode& operator=(const ScopedRelaxedCaptureMode&) = delete;

 private:
  cuda::Result (*exchange_)(int*);
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED, then the thread's own
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_DRIVER_SCOPED_RELAXED_CAPTURE_MODE_H_
