// Memory, copies and sets. Device memory is host memory: copies really copy.
#include <cstdlib>
#include <cstring>

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/driver_state.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"
#include "tests/fakes/visible_devices.h"

namespace utlz::fake {
namespace {

constexpr double kPcieBytesPerSecond = 50e9;
constexpr uint64_t kCopyStartNs = 1000;

enum CopyKind : uint8_t { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 8 };
enum MemoryKind : uint8_t { kPageable = 1, kPinned = 2, kDevice = 3 };

// Pinned allocations by address, for the record's memory kind.
struct PinnedMemory {
  std::mutex mutex;
  std::map<uintptr_t, size_t> blocks;
};

PinnedMemory& Pinned() {
  static PinnedMemory* const pinned = new PinnedMemory;
  return *pinned;
}

uint8_t HostKind(const void* pointer) {
  PinnedMemory& pinned = Pinned();
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(pinned.mutex);
  auto block = pinned.blocks.upper_bound(address);
  if (block == pinned.blocks.begin()) return kPageable;
  --block;
  return address - block->first < block->second ? kPinned : kPageable;
}

void* ToPointer(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }

uint64_t DurationNs(uint64_t bytes, double bytes_per_second) {
  return kCopyStartNs + static_cast<uint64_t>(static_cast<double>(bytes) / bytes_per_second * 1e9);
}

struct CopyRequest {
  void* destination;
  const void* source;
  size_t bytes;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  bool asynchronous;
};

CUresult Copy(const CopyRequest& request, CUstream handle, uint32_t callback_id, const char* name) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(callback_id, name, nullptr);
  if (const CUresult failure = TakeArrangedFailure(); failure != CUDA_SUCCESS) {
    return scope.Return(failure);
  }
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  std::memmove(request.destination, request.source, request.bytes);
  const bool on_device = request.copy_kind == kDeviceToDevice;
  const Interval interval = Schedule(
      stream, DurationNs(request.bytes, on_device ? kDramBytesPerSecond / 2 : kPcieBytesPerSecond));
  const uint32_t device = static_cast<uint32_t>(stream->context->device);
  const double bytes = static_cast<double>(request.bytes);
  SimulatedGpu::Instance().Add(
      {interval.start_ns, interval.end_ns, 0, request.source_kind == kDevice ? bytes : 0,
       request.destination_kind == kDevice ? bytes : 0, PhysicalDevice(device), 0});
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer != nullptr) {
    const Place place = {device, stream->context->id, stream->id,      scope.correlation(), 0,
                         0,      interval.start_ns,   interval.end_ns, CurrentFate()};
    observer->copy({place, request.bytes, request.copy_kind, request.source_kind,
                    request.destination_kind, request.asynchronous});
  }
  if (!request.asynchronous) WaitUntil(interval.end_ns);
  return CUDA_SUCCESS;
}

CUresult Set(CUdeviceptr pointer, uint32_t value, size_t count, size_t element_bytes,
             CUstream handle, uint32_t callback_id, const char* name, bool asynchronous) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(callback_id, name, nullptr);
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(ToPointer(pointer)) + i * element_bytes, &value, element_bytes);
  }
  RunSet(stream, count * element_bytes, value, scope.correlation(), asynchronous, {});
  return CUDA_SUCCESS;
}

}  // namespace

void RunSet(Stream* stream, uint64_t bytes, uint32_t value, uint32_t correlation, bool asynchronous,
            GraphPlace graph) {
  const Interval interval = Schedule(stream, DurationNs(bytes, kDramBytesPerSecond));
  const uint32_t device = static_cast<uint32_t>(stream->context->device);
  SimulatedGpu::Instance().Add({interval.start_ns, interval.end_ns, 0, 0,
                                static_cast<double>(bytes), PhysicalDevice(device), 0});
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer == nullptr) return;
  const Place place = {device,      stream->context->id, stream->id,      correlation,  graph.node,
                       graph.graph, interval.start_ns,   interval.end_ns, CurrentFate()};
  observer->set({place, bytes, value, asynchronous});
}

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  NoteUnsafeCall();
  ApiScope scope(kCallMemAlloc, "cuMemAlloc_v2", nullptr);
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) return scope.Return(CUDA_ERROR_OUT_OF_MEMORY);
  *pointer = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ApiScope scope(kCallMemFree, "cuMemFree_v2", &pointer);
  std::free(ToPointer(pointer));
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  *pointer = std::calloc(1, bytes);
  if (*pointer == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard lock(Pinned().mutex);
  Pinned().blocks[reinterpret_cast<uintptr_t>(*pointer)] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* pointer) {
  {
    const std::lock_guard lock(Pinned().mutex);
    Pinned().blocks.erase(reinterpret_cast<uintptr_t>(pointer));
  }
  std::free(pointer);
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = kMemoryBytes;
  *free_bytes = kMemoryBytes / 2;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return Copy(
      {ToPointer(destination), source, bytes, kHostToDevice, HostKind(source), kDevice, false},
      nullptr, kCallMemcpyHtoD, "cuMemcpyHtoD_v2");
}

CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return Copy(
      {destination, ToPointer(source), bytes, kDeviceToHost, kDevice, HostKind(destination), false},
      nullptr, kCallMemcpyDtoH, "cuMemcpyDtoH_v2");
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return Copy(
      {ToPointer(destination), ToPointer(source), bytes, kDeviceToDevice, kDevice, kDevice, false},
      nullptr, kCallMemcpyDtoD, "cuMemcpyDtoD_v2");
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, size_t bytes,
                              CUstream stream) {
  return Copy(
      {ToPointer(destination), source, bytes, kHostToDevice, HostKind(source), kDevice, true},
      stream, kCallMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
}

CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return Copy(
      {destination, ToPointer(source), bytes, kDeviceToHost, kDevice, HostKind(destination), true},
      stream, kCallMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice) {
  static int the_pool = 0;
  *pool = reinterpret_cast<CUmemoryPool>(&the_pool);
  return Ready() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool, int attribute, void* value) {
  constexpr int kReservedNow = 5;
  const uint64_t used = ScenarioNumber("pool_used_bytes", 0);
  *static_cast<uint64_t*>(value) = attribute == kReservedNow ? 3 * used : used;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return Copy(
      {ToPointer(destination), ToPointer(source), bytes, kDeviceToDevice, kDevice, kDevice, true},
      stream, kCallMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
}

CUresult cuMemsetD8_v2(CUdeviceptr pointer, unsigned char value, size_t count) {
  return Set(pointer, value, count, 1, nullptr, kCallMemsetD8, "cuMemsetD8_v2", false);
}

CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return Set(pointer, value, count, 1, stream, kCallMemsetD8Async, "cuMemsetD8Async", true);
}

CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream) {
  return Set(pointer, value, count, 4, stream, kCallMemsetD32Async, "cuMemsetD32Async", true);
}

}  // extern "C"
}  // namespace utlz::fake
