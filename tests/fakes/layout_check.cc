// Holds the fakes' layouts against the real headers, where these are installed.
#include "tests/fakes/cuda_types.h"
#include "tests/fakes/cupti_records.h"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti.h>

#if CUPTI_API_VERSION >= 130000

#define UTLZ_SAME_SIZE(ours, theirs) static_assert(sizeof(utlz::fake::ours) == sizeof(::theirs))
#define UTLZ_SAME_PLACE(ours, our_field, theirs, their_field) \
  static_assert(offsetof(utlz::fake::ours, our_field) == offsetof(::theirs, their_field))

UTLZ_SAME_SIZE(Kernel10Record, CUpti_ActivityKernel10);
UTLZ_SAME_SIZE(MemcpyRecord, CUpti_ActivityMemcpy6);
UTLZ_SAME_SIZE(MemsetRecord, CUpti_ActivityMemset4);
UTLZ_SAME_SIZE(MarkerRecord, CUpti_ActivityMarker2);
UTLZ_SAME_SIZE(GraphTraceRecord, CUpti_ActivityGraphTrace2);
UTLZ_SAME_SIZE(ApiRecord, CUpti_ActivityAPI);
UTLZ_SAME_SIZE(ContextRecord, CUpti_ActivityContext3);
UTLZ_SAME_SIZE(StreamRecord, CUpti_ActivityStream);
UTLZ_SAME_SIZE(OverheadRecord, CUpti_ActivityOverhead3);
UTLZ_SAME_PLACE(Kernel9Record, start, CUpti_ActivityKernel10, start);
UTLZ_SAME_PLACE(Kernel9Record, grid, CUpti_ActivityKernel10, gridX);
UTLZ_SAME_PLACE(Kernel9Record, correlation_id, CUpti_ActivityKernel10, correlationId);
UTLZ_SAME_PLACE(Kernel9Record, name, CUpti_ActivityKernel10, name);
UTLZ_SAME_PLACE(Kernel9Record, launch_type, CUpti_ActivityKernel10, launchType);
UTLZ_SAME_PLACE(Kernel9Record, graph_node_id, CUpti_ActivityKernel10, graphNodeId);
UTLZ_SAME_PLACE(Kernel9Record, cluster, CUpti_ActivityKernel10, clusterX);
UTLZ_SAME_PLACE(MemcpyRecord, graph_node_id, CUpti_ActivityMemcpy6, graphNodeId);
UTLZ_SAME_PLACE(MemcpyRecord, copy_count, CUpti_ActivityMemcpy6, copyCount);
UTLZ_SAME_PLACE(MemsetRecord, graph_id, CUpti_ActivityMemset4, graphId);
UTLZ_SAME_PLACE(MarkerRecord, process_id, CUpti_ActivityMarker2, objectId);
UTLZ_SAME_PLACE(MarkerRecord, name, CUpti_ActivityMarker2, name);
UTLZ_SAME_PLACE(GraphTraceRecord, stream_id, CUpti_ActivityGraphTrace2, streamId);
UTLZ_SAME_PLACE(ContextRecord, null_stream_id, CUpti_ActivityContext3, nullStreamId);

UTLZ_SAME_SIZE(CUlaunchAttribute, CUlaunchAttribute);
UTLZ_SAME_SIZE(CUlaunchConfig, CUlaunchConfig);
UTLZ_SAME_SIZE(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS);
UTLZ_SAME_SIZE(CUDA_MEMSET_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS);
UTLZ_SAME_SIZE(CUDA_CONDITIONAL_NODE_PARAMS, CUDA_CONDITIONAL_NODE_PARAMS);
UTLZ_SAME_SIZE(CUgraphNodeParams, CUgraphNodeParams);
UTLZ_SAME_SIZE(CUgraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo);
UTLZ_SAME_PLACE(CUgraphNodeParams, kernel, CUgraphNodeParams, kernel);
UTLZ_SAME_PLACE(CUlaunchAttribute, value, CUlaunchAttribute, value);

#endif
#endif
