// One GPU with a context of our own, for the measurements of utlz calibrate:
// memory, kernels and time, through the CUDA driver.
//
// Thread safety: none. Every object of a Gpu must go before it.
#ifndef UTLZ_TOOLS_CALIBRATE_GPU_H_
#define UTLZ_TOOLS_CALIBRATE_GPU_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "collector/sampler/driver/cuda_driver.h"

namespace utlz {

// Device memory, freed with the object.
class DeviceMemory {
 public:
  DeviceMemory(const CudaDriver& driver, CudaPointer pointer, size_t bytes)
      : driver_(driver), pointer_(pointer), bytes_(bytes) {}
  ~DeviceMemory() { driver_.memory_free(pointer_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  CudaPointer pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }

 private:
  const CudaDriver& driver_;
  CudaPointer pointer_;
  size_t bytes_;
};

class Gpu {
 public:
  // The GPU's primary context becomes current on this thread, with the kernels
  // of kernels.ptx.
  static absl::StatusOr<std::unique_ptr<Gpu>> Open(int ordinal);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  CudaHandle stream() const { return stream_; }
  absl::StatusOr<size_t> FreeBytes() const;
  absl::StatusOr<std::unique_ptr<DeviceMemory>> Allocate(size_t bytes) const;

  // Enqueues a kernel of kernels.ptx, with blocks enough for any GPU.
  absl::Status Launch(const char* kernel, void** parameters) const;
  // Milliseconds that the stream takes for what `enqueue` puts on it; waits for
  // them.
  absl::StatusOr<double> TimeMs(const std::function<absl::Status()>& enqueue) const;

 private:
  Gpu() = default;
  absl::Status Check(int result, const char* what) const;
  absl::Status Prepare(int ordinal);

  CudaDriver driver_;
  int device_ = -1;
  CudaHandle module_ = nullptr;
  CudaHandle stream_ = nullptr;
  CudaHandle start_ = nullptr;
  CudaHandle end_ = nullptr;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_GPU_H_
