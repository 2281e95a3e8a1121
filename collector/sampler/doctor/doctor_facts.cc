#include "collector/sampler/doctor/doctor_facts.h"

#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "collector/gpu_uuid.h"
#include "collector/sampler/counters/metric_selection.h"
#include "collector/sampler/counters/nvml_totals.h"
#include "collector/sampler/counters/pm_sampler.h"
#include "collector/sampler/counters/source_reason.h"
#include "collector/sampler/doctor/system_facts.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "collector/sampler/driver/cupti_table.h"
#include "collector/sampler/driver/library_search.h"
#include "collector/sampler/driver/nvml_table.h"
#include "collector/sampler/sharing/device_lease.h"
#include "collector/sampler/sharing/sampler_socket.h"

namespace utlz {
namespace {

DoctorFact DriverFact(const absl::Status& cuda, const absl::StatusOr<NvmlTable>& nvml) {
  DoctorFact fact{.name = "driver"};
  if (!cuda.ok()) {
    fact.status = FactStatus::kBad;
    fact.detail = std::string(cuda.message());
    fact.remedy =
        "install the NVIDIA driver, or give the container its GPUs (docker run --gpus all)";
    return fact;
  }
  fact.status = FactStatus::kGood;
  const std::optional<std::string> version = nvml.ok() ? NvmlDriverVersion(*nvml) : std::nullopt;
  fact.detail = version.has_value() ? absl::StrCat("NVIDIA ", *version) : "loaded";
  return fact;
}

DoctorFact NoGpuFact() {
  return {.name = "GPU",
          .status = FactStatus::kBad,
          .detail = "the driver shows none",
          .remedy = "give this machine or container a GPU; 'utlz demo' runs without one"};
}

DoctorFact GpuFact(const CudaDevice& device) {
  return {.name = absl::StrCat("GPU ", device.ordinal),
          .status = FactStatus::kGood,
          .detail = absl::StrCat(
              device.name, ", compute capability ", device.compute_capability_major, ".",
              device.compute_capability_minor, ", ", device.multiprocessors, " SMs, ",
              device.memory_bytes >> 30, " GiB, ", FormatGpuUuid(device.uuid))};
}

DoctorFact CuptiFact(const absl::StatusOr<CuptiTable>& cupti,
                     const std::vector<std::string>& passed_over) {
  DoctorFact fact{.name = "CUPTI"};
  if (!cupti.ok()) {
    const SourceReason reason = ExplainMissingCupti(cupti.status(), passed_over);
    fact.status = FactStatus::kBad;
    fact.detail = reason.reason;
    fact.remedy = reason.remedy;
    return fact;
  }
  uint32_t version = 0;
  cupti->get_version(&version);
  fact.status = FactStatus::kGood;
  fact.detail = absl::StrCat(cupti->path, ", API version ", version);
  return fact;
}

// Takes the counters for a moment and gives them back: what no file tells. Says what was had.
absl::StatusOr<std::string> TryCounters(const CuptiTable& cupti, const CudaDevice& device) {
  const absl::StatusOr<std::unique_ptr<PmSampler>> sampler =
      PmSampler::Create(cupti, {.device_index = static_cast<size_t>(device.ordinal)});
  if (!sampler.ok()) return sampler.status();
  const absl::StatusOr<SelectedMetrics> base = SelectMetrics(
      BaseRoles(), CuptiPassCounter(cupti, (*sampler)->chip(), (*sampler)->availability()));
  if (!base.ok()) return base.status();
  const absl::Status status = (*sampler)->Configure(*base, kUsualIntervalNs);
  if (!status.ok()) return status;
  return absl::StrCat("free, chip ", (*sampler)->chip(), ", ", base->size(),
                      " counters in one pass");
}

// Another utlz that has them is left alone.
absl::StatusOr<std::string> TryOrShareCounters(const CuptiTable& cupti, const CudaDevice& device) {
  const absl::StatusOr<DeviceLease> lease =
      DeviceLease::Take(DeviceLease::DefaultFolder(), device.uuid);
  if (!absl::IsUnavailable(lease.status())) return TryCounters(cupti, device);
  if (!ConnectToSampler(device.uuid).ok()) return lease.status();
  return absl::StrCat(lease.status().message(), ", which shares them");
}

DoctorFact CountersFact(const CuptiTable& cupti, const CudaDevice& device) {
  DoctorFact fact{.name = absl::StrCat("counters of GPU ", device.ordinal)};
  const absl::StatusOr<std::string> counters = TryOrShareCounters(cupti, device);
  if (counters.ok()) {
    fact.status = FactStatus::kGood;
    fact.detail = *counters;
    return fact;
  }
  const SourceReason reason = ExplainCounterFailure(counters.status());
  fact.status = FactStatus::kBad;
  fact.detail = reason.reason;
  fact.remedy = reason.remedy;
  return fact;
}

DoctorFact MigFact(const absl::StatusOr<NvmlTable>& nvml, const std::vector<CudaDevice>& devices) {
  if (!nvml.ok()) return {.name = "MIG", .detail = "not known without NVML"};
  DoctorFact fact{.name = "MIG", .status = FactStatus::kGood, .detail = "off"};
  for (const CudaDevice& device : devices) {
    nvml::DeviceHandle* handle = nullptr;
    unsigned current = 0;
    unsigned pending = 0;
    if (nvml->device_get_mig_mode == nullptr ||
        nvml->device_get_handle_by_uuid(FormatGpuUuid(device.uuid).c_str(), &handle) !=
            nvml::kSuccess ||
        nvml->device_get_mig_mode(handle, &current, &pending) != nvml::kSuccess) {
      continue;
    }
    if (current != 0) {
      fact.status = FactStatus::kWarning;
      fact.detail = absl::StrCat("on, on GPU ", device.ordinal);
      fact.remedy =
          "counters cannot be sampled in a MIG slice: kernels have times only; 'nvidia-smi -mig 0' "
          "turns MIG off";
    }
  }
  return fact;
}

DoctorFact GpmFact(const NvmlTable& nvml, const CudaDevice& device) {
  const std::unique_ptr<NvmlTotals> totals = NvmlTotals::Create(nvml, device.uuid);
  const bool gpm = totals != nullptr && totals->has_gpm();
  return {.name = absl::StrCat("totals of GPU ", device.ordinal),
          .status = totals != nullptr ? FactStatus::kGood : FactStatus::kWarning,
          .detail = gpm                 ? "NVML with GPM"
                    : totals != nullptr ? "NVML; no GPM (Hopper and later have it)"
                                        : "NVML does not know this GPU"};
}

}  // namespace

std::vector<DoctorFact> GatherDoctorFacts(const DoctorOptions& options) {
  std::vector<DoctorFact> facts;
  const DoctorFact injection = InjectionFact();
  // As the sampler, which gets none of them: they would load another tool into this process, hide
  // GPUs from it, or make it a client of MPS.
  for (const char* variable :
       {"CUDA_INJECTION64_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_MPS_PIPE_DIRECTORY"}) {
    unsetenv(variable);
  }
  const absl::StatusOr<CudaDriver> cuda = LoadCudaDriver();
  const absl::StatusOr<NvmlTable> nvml = LoadNvml();
  const absl::StatusOr<std::vector<CudaDevice>> devices =
      cuda.ok() ? ListCudaDevices(*cuda) : absl::StatusOr<std::vector<CudaDevice>>(cuda.status());
  facts.push_back(DriverFact(devices.status(), nvml));

  const CuptiSearch search = FindCupti(UserLibrarySearch(options.cupti_path, ""));
  const absl::StatusOr<CuptiTable> cupti = LoadCupti(search.paths);
  if (devices.ok()) {
    if (devices->empty()) facts.push_back(NoGpuFact());
    for (const CudaDevice& device : *devices) facts.push_back(GpuFact(device));
  }
  facts.push_back(CuptiFact(cupti, search.passed_over));
  if (devices.ok()) {
    facts.push_back(CounterPermissionFact(options.root_directory));
    for (const CudaDevice& device : *devices) {
      // CUPTI's functions on devices crash where there is no driver.
      if (cupti.ok()) facts.push_back(CountersFact(*cupti, device));
      if (nvml.ok()) facts.push_back(GpmFact(*nvml, device));
    }
    facts.push_back(MigFact(nvml, *devices));
  }
  facts.push_back(injection);
  facts.push_back(OtherProfilersFact(options.root_directory));
  facts.push_back(MpsFact(options.root_directory));
  facts.push_back(PtraceFact(options.root_directory));
  return facts;
}

bool FullJobCanRun(const std::vector<DoctorFact>& facts) {
  return std::none_of(facts.begin(), facts.end(),
                      [](const DoctorFact& fact) { return fact.status == FactStatus::kBad; });
}

const char* FactStatusName(FactStatus status) {
  switch (status) {
    case FactStatus::kGood:
      return "ok";
    case FactStatus::kWarning:
      return "warning";
    case FactStatus::kBad:
      return "bad";
    case FactStatus::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace utlz
