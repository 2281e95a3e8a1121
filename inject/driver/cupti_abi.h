// The few CUPTI, CUDA and NVTX types and numbers that the agent uses, so that it builds with no
// CUDA toolkit. Layouts are those of CUPTI 12.6 to 13.x on 64-bit Linux; the static_asserts of
// tests/unit/inject/cupti_abi_test.cc hold them against the real headers wherever these are found.
// Records are only ever grown at their end, so the prefixes below serve newer libraries too.
#ifndef UTLZ_INJECT_DRIVER_CUPTI_ABI_H_
#define UTLZ_INJECT_DRIVER_CUPTI_ABI_H_

#include <cstddef>
#include <cstdint>

#include "cupti/host_abi.h"

namespace utlz::agent::cupti {

using Result = int32_t;  // CUptiResult
inline constexpr Result kSuccess = 0;
inline constexpr Result kErrorMaxLimitReached = 12;
inline constexpr Result kErrorHardwareBusy = 26;
inline constexpr Result kErrorInsufficientPrivileges = 35;
inline constexpr Result kErrorMultipleSubscribers = 39;

inline constexpr uint32_t kOldestVersion = 24;  // cuptiGetVersion of CUDA 12.6

// CUpti_ActivityKind
inline constexpr uint32_t kKindMemcpy = 1;
inline constexpr uint32_t kKindMemset = 2;
inline constexpr uint32_t kKindDriver = 4;
inline constexpr uint32_t kKindRuntime = 5;
inline constexpr uint32_t kKindConcurrentKernel = 10;
inline constexpr uint32_t kKindMarker = 12;
inline constexpr uint32_t kKindOverhead = 17;  // of CUPTI's own, or of CUDA's that it sees
inline constexpr uint32_t kKindMemcpy2 = 22;   // peer to peer

// CUpti_ActivityAttribute
inline constexpr uint32_t kAttributeDeviceBufferSize = 0;
inline constexpr uint32_t kAttributeDeviceBufferPoolLimit = 2;
inline constexpr uint32_t kAttributeDeviceBufferPreAllocate = 6;

inline constexpr uint32_t kFlushForced = 1;

// Prefix of CUpti_ActivityKernel9 (12.6) and later.
struct KernelRecord {
  uint32_t kind;
  uint8_t cache_config;
  uint8_t shared_memory_config;
  uint16_t registers_per_thread;
  uint32_t partitioned_cache_requested;
  uint32_t partitioned_cache_executed;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  int32_t grid_x, grid_y, grid_z;
  int32_t block_x, block_y, block_z;
  int32_t static_shared_memory;
  int32_t dynamic_shared_memory;
  uint32_t local_memory_per_thread;
  uint32_t local_memory_total;
  uint32_t correlation_id;
  int64_t grid_id;
  const char* name;
  void* reserved0;
  uint64_t queued;
  uint64_t submitted;
  uint8_t launch_type;
  uint8_t carveout_requested_flag;
  uint8_t carveout_requested;
  uint8_t padding;
  uint32_t shared_memory_executed;
  uint64_t graph_node_id;
  uint32_t shmem_limit_config;
  uint32_t graph_id;
  void* access_policy_window;
  uint32_t channel_id;
  uint32_t channel_type;
  uint32_t cluster_x, cluster_y, cluster_z;
  uint32_t cluster_scheduling_policy;
  uint64_t local_memory_total_v2;
  uint32_t max_potential_cluster_size;
  uint32_t max_active_clusters;
} __attribute__((packed, aligned(8)));
inline constexpr uint8_t kLaunchTypeCooperative =
    1;  // CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE

// Prefix of CUpti_ActivityMemcpy5 and later.
struct MemcpyRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t correlation_id;
  uint32_t runtime_correlation_id;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
} __attribute__((packed, aligned(8)));

// Prefix of CUpti_ActivityMemcpyPtoP4.
struct PeerCopyRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t source_device_id;
  uint32_t source_context_id;
  uint32_t destination_device_id;
  uint32_t destination_context_id;
  uint32_t correlation_id;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
} __attribute__((packed, aligned(8)));

// Prefix of CUpti_ActivityMemset4.
struct MemsetRecord {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t correlation_id;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
} __attribute__((packed, aligned(8)));

// CUpti_ActivityMarker2
struct MarkerRecord {
  uint32_t kind;
  uint32_t flags;
  uint64_t timestamp;
  uint32_t id;
  uint32_t object_kind;
  uint32_t object_process_id;
  uint32_t object_thread_id;
  uint32_t object_unused;
  uint32_t pad;
  const char* name;
  const char* domain;
} __attribute__((packed, aligned(8)));
inline constexpr uint32_t kMarkerInstantaneous = 1;
inline constexpr uint32_t kMarkerStart = 2;
inline constexpr uint32_t kMarkerEnd = 4;

// CUpti_ActivityAPI: one call of the driver or the runtime.
struct ApiRecord {
  uint32_t kind;
  uint32_t callback_id;
  uint64_t start;
  uint64_t end;
  uint32_t process_id;
  uint32_t thread_id;
  uint32_t correlation_id;
  uint32_t return_value;
} __attribute__((packed, aligned(8)));

// Calls that launch kernels or graphs: CUpti_driver_api_trace_cbid, CUpti_runtime_api_trace_cbid.
inline constexpr uint32_t kDriverLaunchCalls[] = {307, 442, 477, 478, 480, 514, 515, 652, 653};
inline constexpr uint32_t kRuntimeLaunchCalls[] = {211, 214, 269, 270, 272, 311,
                                                   312, 430, 431, 505, 506};

// Calls that make work which was not there before: loads of modules and libraries, instantiations
// of graphs.
inline constexpr uint32_t kDriverNewWorkCalls[] = {18,  19,  20,  21,  513, 578,
                                                   643, 656, 657, 678, 679};
inline constexpr uint32_t kRuntimeNewWorkCalls[] = {310, 418, 436, 437, 443};

// A call that launches nothing and needs no context.
inline constexpr uint32_t kDriverCallDeviceGetCount = 4;

// The head of CUpti_ActivityOverhead, in all its versions.
struct OverheadRecord {
  uint32_t kind;
  uint32_t overhead_kind;
  uint32_t object[4];  // whose it is
  uint64_t start;
  uint64_t end;
} __attribute__((packed, aligned(8)));
// CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING, _LAZY_FUNCTION_LOADING
inline constexpr uint32_t kOverheadModuleLoading = 4u << 16;
inline constexpr uint32_t kOverheadFunctionLoading = 5u << 16;

struct RecordHead {
  uint32_t kind;
};

inline constexpr uint8_t kCopyHostToDevice = 1, kCopyDeviceToHost = 2, kCopyDeviceToDevice = 8,
                         kCopyHostToHost = 9, kCopyPeerToPeer = 10;
inline constexpr uint8_t kMemoryPageable = 1;
inline constexpr uint8_t kCopyFlagAsync = 1;

using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using BufferCompleted = void (*)(Context context, uint32_t stream_id, uint8_t* buffer, size_t size,
                                 size_t valid_size);

// Callbacks.
using Subscriber = struct SubscriberTag*;
inline constexpr uint32_t kDomainDriverApi = 1;
inline constexpr uint32_t kCallbackExit = 1;  // CUPTI_API_EXIT
struct CallbackData {
  uint32_t site;
  const char* function_name;
  const void* function_params;
  void* return_value;
  const char* symbol_name;
  Context context;
  uint32_t context_uid;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};
// CUpti_CallbackIdResource: of nodes of CUDA graphs.
inline constexpr uint32_t kDomainResource = 3;
inline constexpr uint32_t kGraphNodeCreated = 13;
inline constexpr uint32_t kGraphNodeCloned = 20;
// CUpti_ResourceData
struct ResourceData {
  Context context;
  void* handle;
  const void* descriptor;
};
// CUpti_GraphData, up to the node's type.
struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
  uint32_t node_type;  // CUgraphNodeType
};
inline constexpr uint32_t kKernelNode = 0;
using Callback = void (*)(void* user, uint32_t domain, uint32_t callback_id, const void* data);

using utlz::cupti::GetChipNameParams;
using utlz::cupti::HostConfigAddMetricsParams;
using utlz::cupti::HostDeinitializeParams;
using utlz::cupti::HostEvaluateParams;
using utlz::cupti::HostGetConfigImageParams;
using utlz::cupti::HostGetConfigImageSizeParams;
using utlz::cupti::HostGetNumOfPassesParams;
using utlz::cupti::HostInitializeParams;
using utlz::cupti::HostObject;
using utlz::cupti::InitializeParams;

// Range profiler. Every structure begins with its size and a null.
struct ParamsHead {
  size_t struct_size;
  void* priv;
};
struct RangeEnableParams {
  ParamsHead head;
  Context context;
  void* profiler;
};
struct RangeObjectParams {  // Disable, Start and PopRange
  ParamsHead head;
  void* profiler;
};
struct RangeStopParams {
  ParamsHead head;
  void* profiler;
  size_t pass_index;
  size_t target_nesting_level;
  uint8_t all_passes_submitted;
};
struct RangePushParams {
  ParamsHead head;
  void* profiler;
  const char* name;
};
struct RangeDecodeParams {
  ParamsHead head;
  void* profiler;
  size_t ranges_dropped;
};
struct RangeCounterDataSizeParams {
  ParamsHead head;
  void* profiler;
  const char** metric_names;
  size_t metrics;
  size_t max_ranges;
  uint32_t max_range_tree_nodes;
  size_t counter_data_bytes;
};
struct RangeCounterDataInitializeParams {
  ParamsHead head;
  void* profiler;
  size_t counter_data_bytes;
  uint8_t* counter_data;
};
struct RangeSetConfigParams {
  ParamsHead head;
  void* profiler;
  size_t config_bytes;
  const uint8_t* config;
  size_t counter_data_bytes;
  uint8_t* counter_data;
  uint32_t range_mode;   // 2 = user range (CUPTI_UserRange)
  uint32_t replay_mode;  // 3 = user replay (CUPTI_UserReplay)
  size_t max_ranges_per_pass;
  uint16_t nesting_levels;
  uint16_t min_nesting_level;
  size_t pass_index;
  uint16_t target_nesting_level;
};
inline constexpr uint32_t kUserRange = 2;
inline constexpr uint32_t kUserReplay = 3;

// A range's counter data: how many ranges an image holds.
struct RangeCounterDataInfoParams {
  ParamsHead head;
  const uint8_t* counter_data;
  size_t counter_data_bytes;
  size_t ranges;
};

}  // namespace utlz::agent::cupti

namespace utlz::agent::cuda {

using Result = int32_t;                       // CUresult
using MemoryPool = struct OpaqueMemoryPool*;  // CUmemoryPool
inline constexpr Result kSuccess = 0;
inline constexpr int kAttributeMultiprocessors = 16;
inline constexpr int kAttributeClockKhz = 13;
inline constexpr int kAttributeMemoryClockKhz = 36;
inline constexpr int kAttributeMemoryBusBits = 37;
inline constexpr int kAttributeL2Bytes = 38;
inline constexpr int kAttributeMajor = 75;
inline constexpr int kAttributeMinor = 76;

}  // namespace utlz::agent::cuda

#endif  // UTLZ_INJECT_DRIVER_CUPTI_ABI_H_
