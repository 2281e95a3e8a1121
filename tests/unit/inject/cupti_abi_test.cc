// Holds our declarations of CUPTI against the real headers, where these are installed.

#include "inject/driver/cupti_abi.h"

#include <gtest/gtest.h>

#if __has_include(<cupti.h>)
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace {
namespace ours = utlz::agent::cupti;

#define SAME_PLACE(Ours, our_field, Theirs, their_field)                           \
  static_assert(offsetof(ours::Ours, our_field) == offsetof(Theirs, their_field)); \
  static_assert(sizeof(ours::Ours::our_field) == sizeof(Theirs::their_field))

SAME_PLACE(KernelRecord, registers_per_thread, CUpti_ActivityKernel10, registersPerThread);
SAME_PLACE(KernelRecord, start, CUpti_ActivityKernel10, start);
SAME_PLACE(KernelRecord, end, CUpti_ActivityKernel10, end);
SAME_PLACE(KernelRecord, device_id, CUpti_ActivityKernel10, deviceId);
SAME_PLACE(KernelRecord, context_id, CUpti_ActivityKernel10, contextId);
SAME_PLACE(KernelRecord, stream_id, CUpti_ActivityKernel10, streamId);
SAME_PLACE(KernelRecord, grid_x, CUpti_ActivityKernel10, gridX);
SAME_PLACE(KernelRecord, block_z, CUpti_ActivityKernel10, blockZ);
SAME_PLACE(KernelRecord, dynamic_shared_memory, CUpti_ActivityKernel10, dynamicSharedMemory);
SAME_PLACE(KernelRecord, local_memory_per_thread, CUpti_ActivityKernel10, localMemoryPerThread);
SAME_PLACE(KernelRecord, correlation_id, CUpti_ActivityKernel10, correlationId);
SAME_PLACE(KernelRecord, name, CUpti_ActivityKernel10, name);
SAME_PLACE(KernelRecord, launch_type, CUpti_ActivityKernel10, launchType);
SAME_PLACE(KernelRecord, graph_node_id, CUpti_ActivityKernel10, graphNodeId);
SAME_PLACE(KernelRecord, graph_id, CUpti_ActivityKernel10, graphId);
SAME_PLACE(KernelRecord, cluster_x, CUpti_ActivityKernel10, clusterX);
SAME_PLACE(KernelRecord, cluster_z, CUpti_ActivityKernel10, clusterZ);
static_assert(sizeof(ours::KernelRecord) <= sizeof(CUpti_ActivityKernel9));
static_assert(ours::kLaunchTypeCooperative == CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE);

SAME_PLACE(MemcpyRecord, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME_PLACE(MemcpyRecord, flags, CUpti_ActivityMemcpy6, flags);
SAME_PLACE(MemcpyRecord, bytes, CUpti_ActivityMemcpy6, bytes);
SAME_PLACE(MemcpyRecord, start, CUpti_ActivityMemcpy6, start);
SAME_PLACE(MemcpyRecord, stream_id, CUpti_ActivityMemcpy6, streamId);
SAME_PLACE(MemcpyRecord, graph_node_id, CUpti_ActivityMemcpy6, graphNodeId);
SAME_PLACE(PeerCopyRecord, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME_PLACE(PeerCopyRecord, stream_id, CUpti_ActivityMemcpyPtoP4, streamId);
SAME_PLACE(PeerCopyRecord, graph_node_id, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME_PLACE(MemsetRecord, bytes, CUpti_ActivityMemset4, bytes);
SAME_PLACE(MemsetRecord, stream_id, CUpti_ActivityMemset4, streamId);
SAME_PLACE(MemsetRecord, graph_node_id, CUpti_ActivityMemset4, graphNodeId);
SAME_PLACE(MarkerRecord, timestamp, CUpti_ActivityMarker2, timestamp);
SAME_PLACE(MarkerRecord, id, CUpti_ActivityMarker2, id);
SAME_PLACE(MarkerRecord, name, CUpti_ActivityMarker2, name);
SAME_PLACE(MarkerRecord, domain, CUpti_ActivityMarker2, domain);
static_assert(sizeof(ours::MarkerRecord) == sizeof(CUpti_ActivityMarker2));

SAME_PLACE(OverheadRecord, overhead_kind, CUpti_ActivityOverhead3, overheadKind);
SAME_PLACE(OverheadRecord, start, CUpti_ActivityOverhead3, start);
SAME_PLACE(OverheadRecord, end, CUpti_ActivityOverhead3, end);
static_assert(ours::kOverheadModuleLoading ==
              CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
static_assert(ours::kOverheadFunctionLoading == CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);

SAME_PLACE(ApiRecord, callback_id, CUpti_ActivityAPI, cbid);
SAME_PLACE(ApiRecord, start, CUpti_ActivityAPI, start);
SAME_PLACE(ApiRecord, end, CUpti_ActivityAPI, end);
SAME_PLACE(ApiRecord, thread_id, CUpti_ActivityAPI, threadId);
SAME_PLACE(ApiRecord, correlation_id, CUpti_ActivityAPI, correlationId);
static_assert(sizeof(ours::ApiRecord) == sizeof(CUpti_ActivityAPI));
#define SAME_DRIVER_CALL(index, name) \
  static_assert(ours::kDriverLaunchCalls[index] == CUPTI_DRIVER_TRACE_CBID_##name)
#define SAME_RUNTIME_CALL(index, name) \
  static_assert(ours::kRuntimeLaunchCalls[index] == CUPTI_RUNTIME_TRACE_CBID_##name)
SAME_DRIVER_CALL(0, cuLaunchKernel);
SAME_DRIVER_CALL(1, cuLaunchKernel_ptsz);
SAME_DRIVER_CALL(2, cuLaunchCooperativeKernel);
SAME_DRIVER_CALL(3, cuLaunchCooperativeKernel_ptsz);
SAME_DRIVER_CALL(4, cuLaunchCooperativeKernelMultiDevice);
SAME_DRIVER_CALL(5, cuGraphLaunch);
SAME_DRIVER_CALL(6, cuGraphLaunch_ptsz);
SAME_DRIVER_CALL(7, cuLaunchKernelEx);
SAME_DRIVER_CALL(8, cuLaunchKernelEx_ptsz);
SAME_RUNTIME_CALL(0, cudaLaunchKernel_v7000);
SAME_RUNTIME_CALL(1, cudaLaunchKernel_ptsz_v7000);
SAME_RUNTIME_CALL(2, cudaLaunchCooperativeKernel_v9000);
SAME_RUNTIME_CALL(3, cudaLaunchCooperativeKernel_ptsz_v9000);
SAME_RUNTIME_CALL(4, cudaLaunchCooperativeKernelMultiDevice_v9000);
SAME_RUNTIME_CALL(5, cudaGraphLaunch_v10000);
SAME_RUNTIME_CALL(6, cudaGraphLaunch_ptsz_v10000);
SAME_RUNTIME_CALL(7, cudaLaunchKernelExC_v11060);
SAME_RUNTIME_CALL(8, cudaLaunchKernelExC_ptsz_v11060);
#if CUPTI_API_VERSION >= 130000
SAME_RUNTIME_CALL(9, __cudaLaunchKernel_v13000);
SAME_RUNTIME_CALL(10, __cudaLaunchKernel_ptsz_v13000);
#endif

static_assert(ours::kKindDriver == CUPTI_ACTIVITY_KIND_DRIVER);
static_assert(ours::kKindRuntime == CUPTI_ACTIVITY_KIND_RUNTIME);
static_assert(ours::kKindMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(ours::kKindMemset == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(ours::kKindConcurrentKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(ours::kKindMarker == CUPTI_ACTIVITY_KIND_MARKER);
static_assert(ours::kKindMemcpy2 == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(ours::kAttributeDeviceBufferSize == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE);
static_assert(ours::kAttributeDeviceBufferPoolLimit ==
              CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
static_assert(ours::kAttributeDeviceBufferPreAllocate ==
              CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
static_assert(ours::kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(ours::kMarkerInstantaneous == CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS);
static_assert(ours::kMarkerStart == CUPTI_ACTIVITY_FLAG_MARKER_START);
static_assert(ours::kMarkerEnd == CUPTI_ACTIVITY_FLAG_MARKER_END);
static_assert(ours::kCopyHostToDevice == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
static_assert(ours::kCopyDeviceToHost == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(ours::kCopyDeviceToDevice == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
static_assert(ours::kCopyHostToHost == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
static_assert(ours::kCopyPeerToPeer == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
static_assert(ours::kMemoryPageable == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
static_assert(ours::kErrorHardwareBusy == CUPTI_ERROR_HARDWARE_BUSY);
static_assert(ours::kErrorInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(ours::kErrorMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(ours::kDomainDriverApi == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(ours::kCallbackExit == CUPTI_API_EXIT);

SAME_PLACE(CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(CallbackData, function_name, CUpti_CallbackData, functionName);
SAME_PLACE(CallbackData, function_params, CUpti_CallbackData, functionParams);
SAME_PLACE(CallbackData, context, CUpti_CallbackData, context);

SAME_PLACE(RangeEnableParams, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME_PLACE(RangeObjectParams, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME_PLACE(RangeStopParams, all_passes_submitted, CUpti_RangeProfiler_Stop_Params,
           isAllPassSubmitted);
SAME_PLACE(RangePushParams, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
SAME_PLACE(RangeDecodeParams, ranges_dropped, CUpti_RangeProfiler_DecodeData_Params,
           numOfRangeDropped);
SAME_PLACE(RangeCounterDataSizeParams, counter_data_bytes,
           CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME_PLACE(RangeCounterDataInitializeParams, counter_data,
           CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SAME_PLACE(RangeCounterDataInfoParams, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params,
           numTotalRanges);
SAME_PLACE(RangeSetConfigParams, range_mode, CUpti_RangeProfiler_SetConfig_Params, range);
SAME_PLACE(RangeSetConfigParams, target_nesting_level, CUpti_RangeProfiler_SetConfig_Params,
           targetNestingLevel);
static_assert(ours::kUserRange == CUPTI_UserRange);
static_assert(ours::kUserReplay == CUPTI_UserReplay);

namespace cuda = utlz::agent::cuda;
static_assert(cuda::kAttributeMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda::kAttributeClockKhz == CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
static_assert(cuda::kAttributeMemoryClockKhz == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
static_assert(cuda::kAttributeMemoryBusBits == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
static_assert(cuda::kAttributeL2Bytes == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(cuda::kAttributeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::kAttributeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);

}  // namespace

TEST(CuptiAbi, MatchesTheInstalledHeaders) {
  EXPECT_GE(CUPTI_API_VERSION, 24) << "the headers are older than the oldest supported CUPTI";
}
#else
TEST(CuptiAbi, MatchesTheInstalledHeaders) {
  GTEST_SKIP() << "no CUPTI headers on this machine to compare with";
}
#endif
