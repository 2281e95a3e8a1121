#include "tools/calibrate/calibrate.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/gpu_uuid.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "proto/profile.pb.h"
#include "tools/calibrate/bandwidth.h"
#include "tools/calibrate/ceilings_store.h"
#include "tools/calibrate/cublas_lt.h"
#include "tools/calibrate/gemm.h"
#include "tools/calibrate/idle_check.h"

namespace utlz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestForOneGpu(18);
// A GPU that shows more than this is used by somebody.
constexpr double kIdleShare = 0.05;

std::string Line(const char* name, double value, const char* unit, double clock_hz) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "  %-12s %8.4g %s", name, value, unit);
  if (clock_hz <= 0) return text.data();
  std::array<char, 64> clock{};
  std::snprintf(clock.data(), clock.size(), "  at %.2f GHz", clock_hz * 1e-9);
  return absl::StrCat(text.data(), clock.data());
}

// One GPU while it is measured.
class Calibration {
 public:
  Calibration(const CalibrateOptions& options, const CudaDevice& device)
      : options_(options), device_(device), nvml_(device.uuid) {}

  absl::Status Run();

 private:
  absl::Status CheckIdle();
  absl::Status MeasureBytes(const Gpu& gpu);
  absl::Status MeasureFlops(const Gpu& gpu);
  SteadyRateOptions Steady();

  const CalibrateOptions& options_;
  const CudaDevice& device_;
  NvmlDevice nvml_;
  DeviceCeilings ceilings_;
  Clock::time_point deadline_;
  double clock_sum_hz_ = 0;
  int clock_readings_ = 0;
};

absl::Status Calibration::CheckIdle() {
  const std::optional<double> busy_share = nvml_.BusyShare();
  ceilings_.set_idle(busy_share.has_value() && *busy_share <= kIdleShare);
  if (ceilings_.idle()) return absl::OkStatus();
  const std::string what =
      busy_share.has_value()
          ? absl::StrCat("the GPU is not idle: NVML shows it busy ",
                         static_cast<int>(*busy_share * 100), " % of the time")
          : std::string("whether the GPU is idle is not known: NVML does not tell");
  if (busy_share.has_value() && !options_.force) {
    return absl::FailedPreconditionError(absl::StrCat(
        device_.name, ": ", what, "; wait until it is, or measure all the same by --force"));
  }
  options_.print(absl::StrCat("  ! ", what, "; what is measured may be too low"));
  return absl::OkStatus();
}

SteadyRateOptions Calibration::Steady() {
  clock_sum_hz_ = 0;
  clock_readings_ = 0;
  SteadyRateOptions steady;
  steady.deadline = deadline_;
  steady.while_running = [this] {
    const std::optional<double> clock_hz = nvml_.SmClockHz();
    if (!clock_hz.has_value()) return;
    clock_sum_hz_ += *clock_hz;
    ++clock_readings_;
  };
  return steady;
}

absl::Status Calibration::MeasureBytes(const Gpu& gpu) {
  SteadyRateOptions steady = Steady();
  steady.warmup_ms = 100;
  steady.measured_ms = 500;
  const absl::StatusOr<Bandwidth> bandwidth = MeasureBandwidth(gpu, steady);
  if (!bandwidth.ok()) return bandwidth.status();
  ceilings_.set_copy_bytes_per_second(bandwidth->copy_bytes_per_second);
  ceilings_.set_triad_bytes_per_second(bandwidth->triad_bytes_per_second);
  options_.print(Line("copy", bandwidth->copy_bytes_per_second * 1e-9, "GB/s", 0));
  options_.print(Line("triad", bandwidth->triad_bytes_per_second * 1e-9, "GB/s", 0));
  return absl::OkStatus();
}

absl::Status Calibration::MeasureFlops(const Gpu& gpu) {
  CublasSearch search = {.named_path = options_.cublas_lt_path, .prefixes = PythonPrefixes()};
  const absl::StatusOr<CublasLt> library = LoadCublasLt(search);
  if (!library.ok()) return library.status();
  const std::string name = absl::StrCat("cuBLASLt ", library->get_version());
  options_.print(absl::StrCat("  by ", name, ", ", library->path));
  for (const GemmType& type : GemmTypes()) {
    const absl::StatusOr<double> flops = MeasureGemm(gpu, *library, type, Steady());
    if (!flops.ok()) {
      options_.print(absl::StrCat("  ", type.data_type, ": ", flops.status().message()));
      if (absl::IsUnimplemented(flops.status()) || absl::IsDeadlineExceeded(flops.status()))
        continue;
      return flops.status();
    }
    DeviceCeilings::Rate* rate = ceilings_.add_rate();
    rate->set_data_type(type.data_type);
    rate->set_flops_per_second(*flops);
    rate->set_library(name);
    if (clock_readings_ > 0) rate->set_sm_clock_hz(clock_sum_hz_ / clock_readings_);
    options_.print(Line(type.data_type, *flops * 1e-12, "TFLOP/s", rate->sm_clock_hz()));
  }
  return absl::OkStatus();
}

absl::Status Calibration::Run() {
  ceilings_.set_uuid(FormatGpuUuid(device_.uuid));
  ceilings_.set_name(device_.name);
  ceilings_.set_driver_version(nvml_.driver_version());
  ceilings_.set_utlz_version(UTLZ_VERSION);
  ceilings_.set_time_ns(RealtimeNs());
  options_.print(absl::StrCat(device_.name, " ", ceilings_.uuid()));
  if (absl::Status status = CheckIdle(); !status.ok()) return status;
  deadline_ = Clock::now() + kLongestForOneGpu;
  const absl::StatusOr<std::unique_ptr<Gpu>> gpu = Gpu::Open(device_.ordinal);
  if (!gpu.ok()) return gpu.status();
  if (absl::Status status = MeasureBytes(**gpu); !status.ok()) return status;
  // Bandwidth alone is worth keeping.
  const absl::Status flops = MeasureFlops(**gpu);
  const absl::StatusOr<std::string> path = SaveCeilings(options_.folder, ceilings_);
  if (!path.ok()) return path.status();
  options_.print(absl::StrCat("  kept in ", *path));
  return flops;
}

}  // namespace

absl::Status Calibrate(const CalibrateOptions& options) {
  const absl::StatusOr<CudaDriver> driver = LoadCudaDriver();
  if (!driver.ok()) return driver.status();
  const absl::StatusOr<std::vector<CudaDevice>> devices = ListCudaDevices(*driver);
  if (!devices.ok()) return devices.status();
  absl::Status first_error = absl::OkStatus();
  bool any = false;
  for (const CudaDevice& device : *devices) {
    if (options.device.has_value() && *options.device != device.ordinal) continue;
    any = true;
    const absl::Status status = Calibration(options, device).Run();
    if (first_error.ok()) first_error = status;
  }
  if (!any) return absl::NotFoundError("no such GPU");
  return first_error;
}

}  // namespace utlz
