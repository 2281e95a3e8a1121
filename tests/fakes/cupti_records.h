// Activity records as CUPTI lays them out, and the numbers in them. layout_check.cc compares them
// with the real headers wherever those are installed.
#ifndef UTLZ_TESTS_FAKES_CUPTI_RECORDS_H_
#define UTLZ_TESTS_FAKES_CUPTI_RECORDS_H_

#include <cstdint>

namespace utlz::fake {

enum ActivityKind : uint32_t {
  kActivityMemcpy = 1,
  kActivityMemset = 2,
  kActivityKernel = 3,
  kActivityDriver = 4,
  kActivityRuntime = 5,
  kActivityContext = 9,
  kActivityConcurrentKernel = 10,
  kActivityMarker = 12,
  kActivityOverhead = 17,
  kActivityStream = 37,
  kActivityGraphTrace = 51,
  kActivityKinds = 64,
};

#define UTLZ_RECORD __attribute__((packed, aligned(8)))

// CUpti_ActivityKernel9, CUDA 12.0 to 12.9.
struct UTLZ_RECORD Kernel9Record {
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
  int32_t grid[3];
  int32_t block[3];
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
  uint8_t carveout_is_requested;
  uint8_t carveout_requested;
  uint8_t padding;
  uint32_t shared_memory_executed;
  uint64_t graph_node_id;
  uint32_t shared_memory_limit;
  uint32_t graph_id;
  void* access_policy_window;
  uint32_t channel_id;
  uint32_t channel_type;
  uint32_t cluster[3];
  uint32_t cluster_scheduling_policy;
  uint64_t local_memory_total_v2;
  uint32_t max_potential_cluster_size;
  uint32_t max_active_clusters;
};

// CUpti_ActivityKernel10, CUDA 13.0.
struct UTLZ_RECORD Kernel10Record {
  Kernel9Record base;
  uint8_t is_device_launched;
  uint8_t padding3[7];
};

// Stands for every later layout: longer, with fields that the reader does not know.
struct UTLZ_RECORD NewerKernelRecord {
  Kernel10Record base;
  uint64_t unknown[2];
};

inline constexpr uint8_t kLaunchRegular = 0;
inline constexpr uint8_t kLaunchCooperative = 1;

// CUpti_ActivityMemcpy6.
struct UTLZ_RECORD MemcpyRecord {
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
  uint32_t channel_id;
  uint32_t channel_type;
  uint8_t is_device_launched;
  uint8_t pad2[3];
  uint64_t copy_count;
};

// CUpti_ActivityMemset4.
struct UTLZ_RECORD MemsetRecord {
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
  uint32_t channel_id;
  uint32_t channel_type;
  uint8_t is_device_launched;
  uint8_t pad2[3];
};

// CUpti_ActivityMarker2.
struct UTLZ_RECORD MarkerRecord {
  uint32_t kind;
  uint32_t flags;
  uint64_t timestamp;
  uint32_t id;
  uint32_t object_kind;
  uint32_t process_id;
  uint32_t thread_id;
  uint32_t object_unused;
  uint32_t pad;
  const char* name;
  const char* domain;
};

inline constexpr uint32_t kMarkerInstantaneous = 1;
inline constexpr uint32_t kMarkerStart = 2;
inline constexpr uint32_t kMarkerEnd = 4;
inline constexpr uint32_t kObjectThread = 2;

// CUpti_ActivityGraphTrace2.
struct UTLZ_RECORD GraphTraceRecord {
  uint32_t kind;
  uint32_t correlation_id;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t graph_id;
  uint32_t context_id;
  uint32_t stream_id;
  void* reserved;
  uint32_t end_device_id;
  uint32_t end_context_id;
};

// CUpti_ActivityAPI.
struct UTLZ_RECORD ApiRecord {
  uint32_t kind;
  uint32_t callback_id;
  uint64_t start;
  uint64_t end;
  uint32_t process_id;
  uint32_t thread_id;
  uint32_t correlation_id;
  uint32_t return_value;
};

// CUpti_ActivityContext3.
struct UTLZ_RECORD ContextRecord {
  uint32_t kind;
  uint32_t context_id;
  uint32_t device_id;
  uint16_t compute_api_kind;
  uint16_t null_stream_id;
  uint32_t parent_context_id;
  uint8_t is_green_context;
  uint8_t padding;
  uint16_t multiprocessors;
  uint32_t cig_mode;
  uint32_t padding2;
};

// CUpti_ActivityStream.
struct UTLZ_RECORD StreamRecord {
  uint32_t kind;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t priority;
  uint32_t flag;
  uint32_t correlation_id;
};

// CUpti_ActivityOverhead3.
struct UTLZ_RECORD OverheadRecord {
  uint32_t kind;
  uint32_t overhead_kind;
  uint32_t object_kind;
  uint32_t process_id;
  uint32_t thread_id;
  uint32_t object_unused;
  uint64_t start;
  uint64_t end;
  uint32_t correlation_id;
  uint32_t reserved0;
  void* overhead_data;
};

#undef UTLZ_RECORD

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_CUPTI_RECORDS_H_
