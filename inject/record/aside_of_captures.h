// What this thread calls meanwhile cannot invalidate a stream capture of another thread.
#ifndef UTLZ_INJECT_RECORD_ASIDE_OF_CAPTURES_H_
#define UTLZ_INJECT_RECORD_ASIDE_OF_CAPTURES_H_

#include "inject/driver/cuda_api.h"

namespace utlz::inject {

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

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_RECORD_ASIDE_OF_CAPTURES_H_
