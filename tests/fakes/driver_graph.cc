// Building graphs: by hand and by stream capture.
#include "tests/fakes/driver_graph.h"

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_driver.h"

namespace utlz::fake {
namespace {

struct Conditions {
  std::mutex mutex;
  std::map<CUgraphConditionalHandle, uint32_t> runs;
};

Conditions& AllConditions() {
  static Conditions* const conditions = new Conditions;
  return *conditions;
}

uint64_t NextNodeId(const Graph& graph) {
  // As CUPTI numbers them: the graph in the upper half.
  return uint64_t{graph.id} << 32 | (graph.nodes.size() + 1);
}

}  // namespace

Graph* FromHandle(CUgraph graph) { return reinterpret_cast<Graph*>(graph); }
CUgraph ToHandle(Graph* graph) { return reinterpret_cast<CUgraph>(graph); }
GraphNode* FromHandle(CUgraphNode node) { return reinterpret_cast<GraphNode*>(node); }
CUgraphNode ToHandle(GraphNode* node) { return reinterpret_cast<CUgraphNode>(node); }
GraphExec* FromHandle(CUgraphExec exec) { return reinterpret_cast<GraphExec*>(exec); }
CUgraphExec ToHandle(GraphExec* exec) { return reinterpret_cast<CUgraphExec>(exec); }

std::unique_ptr<Graph> MakeGraph() {
  auto graph = std::make_unique<Graph>();
  graph->id = DriverState::Instance().next_graph_id.fetch_add(1);
  return graph;
}

GraphNode* AddNode(Graph* graph, CUgraphNodeType type) {
  auto node = std::make_unique<GraphNode>();
  node->id = NextNodeId(*graph);
  node->type = type;
  graph->nodes.push_back(std::move(node));
  GraphNode* added = graph->nodes.back().get();
  NotifyGraph(kGraphNodeCreated, {.graph = ToHandle(graph),
                                  .original_graph = nullptr,
                                  .node = ToHandle(added),
                                  .original_node = nullptr,
                                  .node_type = type,
                                  .exec = nullptr});
  return added;
}

LaunchShape ShapeOf(const CUDA_KERNEL_NODE_PARAMS& params) {
  return {.function = reinterpret_cast<const Function*>(params.func),
          .grid = {params.gridDimX, params.gridDimY, params.gridDimZ},
          .block = {params.blockDimX, params.blockDimY, params.blockDimZ},
          .dynamic_shared_bytes = params.sharedMemBytes};
}

void NotifyGraph(uint32_t event, const GraphEvent& details) {
  NotifyResource(event, CurrentContext(), nullptr, &details);
}

void CaptureKernel(CUgraph graph, const LaunchShape& shape) {
  AddNode(FromHandle(graph), CU_GRAPH_NODE_TYPE_KERNEL)->shape = shape;
}

uint32_t ConditionalRuns(CUgraphConditionalHandle handle) {
  Conditions& conditions = AllConditions();
  const std::lock_guard lock(conditions.mutex);
  return conditions.runs[handle];
}

extern "C" {

void FakeCudaSetConditionalRuns(uint64_t handle, uint32_t runs) {
  Conditions& conditions = AllConditions();
  const std::lock_guard lock(conditions.mutex);
  conditions.runs[handle] = runs;
}

uint64_t FakeCudaGraphNodeId(CUgraphNode node) { return FromHandle(node)->id; }
uint32_t FakeCudaGraphId(CUgraph graph) { return FromHandle(graph)->id; }
uint32_t FakeCudaGraphExecId(CUgraphExec exec) { return FromHandle(exec)->graph->id; }

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallGraphCreate, "cuGraphCreate", nullptr);
  Graph* made = MakeGraph().release();
  *graph = ToHandle(made);
  NotifyGraph(kGraphCreated, {.graph = *graph,
                              .original_graph = nullptr,
                              .node = nullptr,
                              .original_node = nullptr,
                              .node_type = CU_GRAPH_NODE_TYPE_KERNEL,
                              .exec = nullptr});
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  ApiScope scope(kCallGraphDestroy, "cuGraphDestroy", &graph);
  NotifyGraph(kGraphDestroyStarting, {.graph = graph,
                                      .original_graph = nullptr,
                                      .node = nullptr,
                                      .original_node = nullptr,
                                      .node_type = CU_GRAPH_NODE_TYPE_KERNEL,
                                      .exec = nullptr});
  delete FromHandle(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  ApiScope scope(kCallGraphAddKernelNode, "cuGraphAddKernelNode_v2", nullptr);
  GraphNode* added = AddNode(FromHandle(graph), CU_GRAPH_NODE_TYPE_KERNEL);
  added->shape = ShapeOf(*params);
  *node = ToHandle(added);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                              CUcontext context) {
  ApiScope scope(kCallGraphAddMemsetNode, "cuGraphAddMemsetNode", nullptr);
  GraphNode* added = AddNode(FromHandle(graph), CU_GRAPH_NODE_TYPE_MEMSET);
  added->set_bytes = params->width * params->height * params->elementSize;
  added->set_value = params->value;
  *node = ToHandle(added);
  return CUDA_SUCCESS;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph,
                                        CUcontext context, unsigned int default_value,
                                        unsigned int flags) {
  Conditions& conditions = AllConditions();
  const std::lock_guard lock(conditions.mutex);
  *handle = conditions.runs.size() + 1;
  conditions.runs[*handle] = default_value;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const void* edges, size_t count, CUgraphNodeParams* params) {
  ApiScope scope(kCallGraphAddNode, "cuGraphAddNode_v2", nullptr);
  GraphNode* added = AddNode(FromHandle(graph), params->type);
  *node = ToHandle(added);
  if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
    added->shape = ShapeOf(params->kernel);
  } else if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    added->condition = params->conditional.handle;
    added->body = MakeGraph();
    *params->conditional.phGraph_out = ToHandle(added->body.get());
  } else {
    return scope.Return(CUDA_ERROR_NOT_SUPPORTED);
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  ApiScope scope(kCallStreamBeginCapture, "cuStreamBeginCapture_v2", &handle);
  Stream* stream = FindStream(handle);
  if (stream == nullptr || stream->capture != nullptr) {
    return scope.Return(CUDA_ERROR_INVALID_VALUE);
  }
  stream->capture = ToHandle(MakeGraph().release());
  Captures& captures = Captures::Instance();
  if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL && captures.open++ == 0) captures.invalidated = false;
  stream->captures_globally = mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  ApiScope scope(kCallStreamEndCapture, "cuStreamEndCapture", &handle);
  Stream* stream = FindStream(handle);
  if (stream == nullptr || stream->capture == nullptr) {
    return scope.Return(CUDA_ERROR_INVALID_VALUE);
  }
  *graph = stream->capture;
  stream->capture = nullptr;
  Captures& captures = Captures::Instance();
  if (!stream->captures_globally) return CUDA_SUCCESS;
  --captures.open;
  return captures.invalidated ? scope.Return(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) : CUDA_SUCCESS;
}

}  // extern "C"
}  // namespace utlz::fake
