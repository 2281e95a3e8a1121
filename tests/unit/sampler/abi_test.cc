// Compares our own declarations with the vendor's headers, where these are installed.
#include <gtest/gtest.h>

#include <cstddef>

#include "collector/sampler/driver/cupti_profiler_abi.h"
#include "collector/sampler/driver/nvml_abi.h"

#if __has_include(<cuda.h>) && __has_include(<cupti_pmsampling.h>)
#define UTLZ_HAVE_CUPTI_HEADERS 1
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#endif
#if __has_include(<nvml.h>)
#define UTLZ_HAVE_NVML_HEADER 1
#include <nvml.h>
#endif

namespace utlz {
namespace {

#ifdef UTLZ_HAVE_CUPTI_HEADERS

#define SAME_SIZE(ours, theirs)                                            \
  static_assert(cupti::ours{}.struct_size == theirs##_STRUCT_SIZE, #ours); \
  static_assert(sizeof(cupti::ours) == sizeof(theirs), #ours)
#define SAME_FIELD(ours, field, theirs, their_field)                                               \
  static_assert(offsetof(cupti::ours, field) == offsetof(theirs, their_field), #ours "::" #field); \
  static_assert(sizeof(cupti::ours::field) == sizeof(theirs::their_field), #ours "::" #field)

SAME_SIZE(InitializeParams, CUpti_Profiler_Initialize_Params);

SAME_SIZE(GetChipNameParams, CUpti_Device_GetChipName_Params);
SAME_FIELD(GetChipNameParams, device_index, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_FIELD(GetChipNameParams, chip_name, CUpti_Device_GetChipName_Params, pChipName);

static_assert(offsetof(cupti::DeviceSupportedParams, device) ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, cuDevice));
static_assert(offsetof(cupti::DeviceSupportedParams, supported) ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, isSupported));
static_assert(offsetof(cupti::DeviceSupportedParams, vgpu) ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, vGpu));
static_assert(offsetof(cupti::DeviceSupportedParams, confidential_compute) ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, confidentialCompute));
static_assert(offsetof(cupti::DeviceSupportedParams, wsl) ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, wsl));
static_assert(offsetof(cupti::DeviceSupportedParams, api) ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, api));
static_assert(cupti::DeviceSupportedParams{}.struct_size ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, api) + sizeof(CUpti_Profiler_API));

SAME_SIZE(HostInitializeParams, CUpti_Profiler_Host_Initialize_Params);
SAME_FIELD(HostInitializeParams, profiler_type, CUpti_Profiler_Host_Initialize_Params,
           profilerType);
SAME_FIELD(HostInitializeParams, chip_name, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_FIELD(HostInitializeParams, counter_availability_image, CUpti_Profiler_Host_Initialize_Params,
           pCounterAvailabilityImage);
SAME_FIELD(HostInitializeParams, host_object, CUpti_Profiler_Host_Initialize_Params, pHostObject);

SAME_SIZE(HostDeinitializeParams, CUpti_Profiler_Host_Deinitialize_Params);
SAME_SIZE(HostGetSupportedChipsParams, CUpti_Profiler_Host_GetSupportedChips_Params);
SAME_FIELD(HostGetSupportedChipsParams, chip_count, CUpti_Profiler_Host_GetSupportedChips_Params,
           numChips);

SAME_SIZE(HostConfigAddMetricsParams, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME_FIELD(HostConfigAddMetricsParams, metric_names, CUpti_Profiler_Host_ConfigAddMetrics_Params,
           ppMetricNames);
SAME_FIELD(HostConfigAddMetricsParams, metric_count, CUpti_Profiler_Host_ConfigAddMetrics_Params,
           numMetrics);

SAME_SIZE(HostGetConfigImageSizeParams, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_FIELD(HostGetConfigImageSizeParams, config_image_size,
           CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME_SIZE(HostGetConfigImageParams, CUpti_Profiler_Host_GetConfigImage_Params);
SAME_FIELD(HostGetConfigImageParams, config_image, CUpti_Profiler_Host_GetConfigImage_Params,
           pConfigImage);
SAME_SIZE(HostGetNumOfPassesParams, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME_FIELD(HostGetNumOfPassesParams, pass_count, CUpti_Profiler_Host_GetNumOfPasses_Params,
           numOfPasses);

SAME_SIZE(HostEvaluateParams, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME_FIELD(HostEvaluateParams, counter_data_image_size,
           CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
SAME_FIELD(HostEvaluateParams, range_index, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           rangeIndex);
SAME_FIELD(HostEvaluateParams, metric_values, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           pMetricValues);

SAME_SIZE(PmEnableParams, CUpti_PmSampling_Enable_Params);
SAME_FIELD(PmEnableParams, device_index, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_FIELD(PmEnableParams, object, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME_SIZE(PmObjectParams, CUpti_PmSampling_Disable_Params);
SAME_SIZE(PmObjectParams, CUpti_PmSampling_Start_Params);
SAME_SIZE(PmObjectParams, CUpti_PmSampling_Stop_Params);

SAME_SIZE(PmSetConfigParams, CUpti_PmSampling_SetConfig_Params);
SAME_FIELD(PmSetConfigParams, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME_FIELD(PmSetConfigParams, hardware_buffer_size, CUpti_PmSampling_SetConfig_Params,
           hardwareBufferSize);
SAME_FIELD(PmSetConfigParams, sampling_interval, CUpti_PmSampling_SetConfig_Params,
           samplingInterval);
SAME_FIELD(PmSetConfigParams, trigger_mode, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME_FIELD(PmSetConfigParams, append_mode, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);

SAME_SIZE(PmDecodeDataParams, CUpti_PmSampling_DecodeData_Params);
SAME_FIELD(PmDecodeDataParams, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_FIELD(PmDecodeDataParams, overflow, CUpti_PmSampling_DecodeData_Params, overflow);

SAME_SIZE(PmGetCounterAvailabilityParams, CUpti_PmSampling_GetCounterAvailability_Params);
SAME_FIELD(PmGetCounterAvailabilityParams, image, CUpti_PmSampling_GetCounterAvailability_Params,
           pCounterAvailabilityImage);

SAME_SIZE(PmGetCounterDataSizeParams, CUpti_PmSampling_GetCounterDataSize_Params);
SAME_FIELD(PmGetCounterDataSizeParams, max_samples, CUpti_PmSampling_GetCounterDataSize_Params,
           maxSamples);
SAME_FIELD(PmGetCounterDataSizeParams, counter_data_size,
           CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);

SAME_SIZE(PmCounterDataInitializeParams, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME_FIELD(PmCounterDataInitializeParams, counter_data,
           CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);

SAME_SIZE(PmGetCounterDataInfoParams, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME_FIELD(PmGetCounterDataInfoParams, completed_samples,
           CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);

SAME_SIZE(PmGetSampleInfoParams, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME_FIELD(PmGetSampleInfoParams, sample_index, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           sampleIndex);
SAME_FIELD(PmGetSampleInfoParams, end_timestamp, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           endTimestamp);

static_assert(int{cupti::kHardwareBusy} == int{CUPTI_ERROR_HARDWARE_BUSY});
static_assert(int{cupti::kInvalidOperation} == int{CUPTI_ERROR_INVALID_OPERATION});
static_assert(int{cupti::kOutOfMemory} == int{CUPTI_ERROR_OUT_OF_MEMORY});
static_assert(int{cupti::kNotInitialized} == int{CUPTI_ERROR_NOT_INITIALIZED});
static_assert(int{cupti::kNotSupported} == int{CUPTI_ERROR_NOT_SUPPORTED});
static_assert(int{cupti::kInsufficientPrivileges} == int{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES});
static_assert(int{cupti::kVirtualizedDeviceInsufficientPrivileges} ==
              int{CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES});
static_assert(int{cupti::kPmSampling} == int{CUPTI_PROFILER_TYPE_PM_SAMPLING});
static_assert(int{cupti::kApiPmSampling} == int{CUPTI_PROFILER_PM_SAMPLING});
static_assert(int{cupti::kSupported} == int{CUPTI_PROFILER_CONFIGURATION_SUPPORTED});
static_assert(int{cupti::kTriggerTime} == int{CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL});
static_assert(int{cupti::kKeepLatest} ==
              int{CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST});
static_assert(int{cupti::kStopEndOfRecords} ==
              int{CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS});

#endif  // UTLZ_HAVE_CUPTI_HEADERS

#ifdef UTLZ_HAVE_NVML_HEADER

static_assert(sizeof(nvml::Memory) == sizeof(nvmlMemory_t));
static_assert(sizeof(nvml::Utilization) == sizeof(nvmlUtilization_t));
static_assert(sizeof(nvml::ProcessInfo) == sizeof(nvmlProcessInfo_t));
static_assert(offsetof(nvml::ProcessInfo, used_gpu_memory) ==
              offsetof(nvmlProcessInfo_t, usedGpuMemory));
static_assert(sizeof(nvml::GpmSupport) == sizeof(nvmlGpmSupport_t));
static_assert(sizeof(nvml::GpmMetric) == sizeof(nvmlGpmMetric_t));
static_assert(offsetof(nvml::GpmMetric, value) == offsetof(nvmlGpmMetric_t, value));
static_assert(offsetof(nvml::GpmMetricsGet, metric) == offsetof(nvmlGpmMetricsGet_t, metrics));
static_assert(offsetof(nvml::GpmMetricsGet, sample2) == offsetof(nvmlGpmMetricsGet_t, sample2));
static_assert(nvml::kGpmMetricCapacity >= NVML_GPM_METRIC_MAX);
static_assert(nvml::GpmMetricsGet{}.version == NVML_GPM_METRICS_GET_VERSION);
static_assert(unsigned{nvml::kGpmSmActive} == NVML_GPM_METRIC_SM_UTIL);
static_assert(unsigned{nvml::kGpmSmOccupancy} == NVML_GPM_METRIC_SM_OCCUPANCY);
static_assert(unsigned{nvml::kGpmTensorActive} == NVML_GPM_METRIC_ANY_TENSOR_UTIL);
static_assert(unsigned{nvml::kGpmDramActive} == NVML_GPM_METRIC_DRAM_BW_UTIL);
static_assert(unsigned{nvml::kGpmFp64Active} == NVML_GPM_METRIC_FP64_UTIL);
static_assert(unsigned{nvml::kGpmFp32Active} == NVML_GPM_METRIC_FP32_UTIL);
static_assert(unsigned{nvml::kGpmFp16Active} == NVML_GPM_METRIC_FP16_UTIL);
static_assert(unsigned{nvml::kGpmPcieTx} == NVML_GPM_METRIC_PCIE_TX_PER_SEC);
static_assert(unsigned{nvml::kGpmPcieRx} == NVML_GPM_METRIC_PCIE_RX_PER_SEC);
static_assert(unsigned{nvml::kClockSm} == NVML_CLOCK_SM);
static_assert(unsigned{nvml::kClockMemory} == NVML_CLOCK_MEM);

#endif  // UTLZ_HAVE_NVML_HEADER

TEST(SamplingAbi, MatchesCuptiHeaders) {
#ifndef UTLZ_HAVE_CUPTI_HEADERS
  GTEST_SKIP() << "CUPTI's headers are not installed";
#endif
}

TEST(SamplingAbi, MatchesNvmlHeader) {
#ifndef UTLZ_HAVE_NVML_HEADER
  GTEST_SKIP() << "nvml.h is not installed";
#endif
}

}  // namespace
}  // namespace utlz
