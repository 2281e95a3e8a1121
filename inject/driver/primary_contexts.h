// The primary contexts of the process: those of the CUDA runtime, where nearly every framework
// works. Agent's thread only.
#ifndef UTLZ_INJECT_DRIVER_PRIMARY_CONTEXTS_H_
#define UTLZ_INJECT_DRIVER_PRIMARY_CONTEXTS_H_

#include <cstdint>

#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_abi.h"

namespace utlz::agent {

// Those that exist at the moment. The process may destroy them at any time: to be used at once.
class PrimaryContexts {
 public:
  static constexpr uint32_t kMost = 64;

  // Makes no context and keeps none alive.
  explicit PrimaryContexts(const CudaApi& cuda);

  uint32_t count() const { return count_; }
  // A bit for each device, by ordinal.
  uint64_t devices() const { return devices_; }
  cupti::Context operator[](uint32_t index) const { return contexts_[index]; }

 private:
  uint64_t devices_;
  cupti::Context contexts_[kMost];
  uint32_t count_ = 0;
};

// A bit for each device, by ordinal, that has one.
uint64_t DevicesWithPrimaryContext(const CudaApi& cuda);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_DRIVER_PRIMARY_CONTEXTS_H_
