#include "tools/calibrate/gpu.h"

#include "absl/strings/str_cat.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "tools/calibrate/kernels_ptx.h"

namespace utlz {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr unsigned kBlocks = 4096;
constexpr unsigned kThreads = 256;

}  // namespace

absl::StatusOr<std::unique_ptr<Gpu>> Gpu::Open(int ordinal) {
  absl::StatusOr<CudaDriver> driver = LoadCudaDriver();
  if (!driver.ok()) return driver.status();
  std::unique_ptr<Gpu> gpu(new Gpu);
  gpu->driver_ = *driver;
  if (absl::Status status = gpu->Prepare(ordinal); !status.ok()) return status;
  return gpu;
}

absl::Status Gpu::Prepare(int ordinal) {
  CudaHandle context = nullptr;
  int device = 0;
  if (auto status = Check(driver_.init(0), "starting CUDA"); !status.ok()) return status;
  if (auto status = Check(driver_.device_get(&device, ordinal), "opening the GPU"); !status.ok()) {
    return status;
  }
  if (auto status = Check(driver_.primary_context_retain(&context, device), "making a context");
      !status.ok()) {
    return status;
  }
  device_ = device;
  for (const auto& [result, what] :
       {std::pair(driver_.context_set_current(context), "using the context"),
        std::pair(driver_.stream_create(&stream_, kNonBlocking), "making a stream"),
        std::pair(driver_.event_create(&start_, 0), "making an event"),
        std::pair(driver_.event_create(&end_, 0), "making an event"),
        std::pair(driver_.module_load_data(&module_, kCalibrationKernels),
                  "compiling the kernels")}) {
    if (auto status = Check(result, what); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// One by one: the context stays where somebody else in this process uses it too.
Gpu::~Gpu() {
  if (module_ != nullptr) driver_.module_unload(module_);
  for (CudaHandle event : {start_, end_}) {
    if (event != nullptr) driver_.event_destroy(event);
  }
  if (stream_ != nullptr) driver_.stream_destroy(stream_);
  if (device_ >= 0) driver_.primary_context_release(device_);
}

absl::Status Gpu::Check(int result, const char* what) const {
  if (result == 0) return absl::OkStatus();
  const char* text = nullptr;
  if (driver_.get_error_string(result, &text) != 0 || text == nullptr) text = "unknown error";
  return absl::UnavailableError(absl::StrCat(what, " failed: ", text, " (", result, ")"));
}

absl::StatusOr<size_t> Gpu::FreeBytes() const {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (auto status = Check(driver_.memory_get_info(&free_bytes, &total_bytes), "asking for memory");
      !status.ok()) {
    return status;
  }
  return free_bytes;
}

absl::StatusOr<std::unique_ptr<DeviceMemory>> Gpu::Allocate(size_t bytes) const {
  CudaPointer pointer = 0;
  if (auto status = Check(driver_.memory_allocate(&pointer, bytes), "allocating memory");
      !status.ok()) {
    return status;
  }
  return std::make_unique<DeviceMemory>(driver_, pointer, bytes);
}

absl::Status Gpu::Launch(const char* kernel, void** parameters) const {
  CudaHandle function = nullptr;
  if (auto status = Check(driver_.module_get_function(&function, module_, kernel), kernel);
      !status.ok()) {
    return status;
  }
  return Check(driver_.launch_kernel(function, kBlocks, 1, 1, kThreads, 1, 1, 0, stream_,
                                     parameters, nullptr),
               kernel);
}

absl::StatusOr<double> Gpu::TimeMs(const std::function<absl::Status()>& enqueue) const {
  if (auto status = Check(driver_.event_record(start_, stream_), "timing"); !status.ok()) {
    return status;
  }
  if (absl::Status status = enqueue(); !status.ok()) return status;
  float elapsed_ms = 0;
  for (const int result : {driver_.event_record(end_, stream_), driver_.event_synchronize(end_),
                           driver_.event_elapsed_time(&elapsed_ms, start_, end_)}) {
    if (auto status = Check(result, "timing"); !status.ok()) return status;
  }
  return static_cast<double>(elapsed_ms);
}

}  // namespace utlz
