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

namespace utlz {

using DevicePointer = uint64_t;
using DriverHandle = void*;

// The driver's functions that are called, resolved at run time.
struct ContextDriver {
  int (*init)(unsigned) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*primary_context_retain)(DriverHandle*, int) = nullptr;
  int (*primary_context_release)(int) = nullptr;
  int (*context_set_current)(DriverHandle) = nullptr;
  int (*memory_get_info)(size_t*, size_t*) = nullptr;
  int (*memory_allocate)(DevicePointer*, size_t) = nullptr;
  int (*memory_free)(DevicePointer) = nullptr;
  int (*module_load_data)(DriverHandle*, const void*) = nullptr;
  int (*module_unload)(DriverHandle) = nullptr;
  int (*module_get_function)(DriverHandle*, DriverHandle, const char*) = nullptr;
  int (*stream_create)(DriverHandle*, unsigned) = nullptr;
  int (*stream_destroy)(DriverHandle) = nullptr;
  int (*event_create)(DriverHandle*, unsigned) = nullptr;
  int (*event_destroy)(DriverHandle) = nullptr;
  int (*event_record)(DriverHandle, DriverHandle) = nullptr;
  int (*event_synchronize)(DriverHandle) = nullptr;
  int (*event_elapsed_time)(float*, DriverHandle, DriverHandle) = nullptr;
  int (*launch_kernel)(DriverHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, DriverHandle, void**, void**) = nullptr;
  int (*get_error_string)(int, const char**) = nullptr;
};

// Device memory, freed with the object.
class DeviceMemory {
 public:
  DeviceMemory(const ContextDriver& driver, DevicePointer pointer, size_t bytes)
      : driver_(driver), pointer_(pointer), bytes_(bytes) {}
  ~DeviceMemory() { driver_.memory_free(pointer_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  DevicePointer pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }

 private:
  const ContextDriver& driver_;
  DevicePointer pointer_;
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

  DriverHandle stream() const { return stream_; }
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

  ContextDriver driver_;
  int device_ = -1;
  DriverHandle module_ = nullptr;
  DriverHandle stream_ = nullptr;
  DriverHandle start_ = nullptr;
  DriverHandle end_ = nullptr;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_GPU_H_
