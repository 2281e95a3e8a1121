// Instantiated graphs: launch, update in place, destroy.
#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/driver_graph.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {
namespace {

struct GraphLaunchParams {
  CUgraphExec exec;
  CUstream stream;
};

void CopyWork(const GraphNode& from, GraphNode* to) {
  to->shape = from.shape;
  to->set_bytes = from.set_bytes;
  to->set_value = from.set_value;
}

std::unique_ptr<Graph> Clone(const Graph& original, CUgraphExec exec) {
  std::unique_ptr<Graph> copy = MakeGraph();
  for (const auto& node : original.nodes) {
    auto cloned = std::make_unique<GraphNode>();
    cloned->id = uint64_t{copy->id} << 32 | (copy->nodes.size() + 1);
    cloned->type = node->type;
    cloned->condition = node->condition;
    CopyWork(*node, cloned.get());
    if (node->body != nullptr) cloned->body = Clone(*node->body, exec);
    // As CUPTI does, also of a clone.
    NotifyGraph(kGraphNodeCreated, {.graph = ToHandle(copy.get()),
                                    .original_graph = nullptr,
                                    .node = ToHandle(cloned.get()),
                                    .original_node = nullptr,
                                    .node_type = node->type,
                                    .exec = exec});
    NotifyGraph(kGraphNodeCloned, {.graph = ToHandle(copy.get()),
                                   .original_graph = nullptr,
                                   .node = ToHandle(cloned.get()),
                                   .original_node = ToHandle(node.get()),
                                   .node_type = node->type,
                                   .exec = exec});
    copy->nodes.push_back(std::move(cloned));
  }
  return copy;
}

void Run(Stream* stream, const Graph& graph, uint32_t graph_id, uint32_t correlation) {
  for (const auto& node : graph.nodes) {
    const GraphPlace place = {node->id, graph_id};
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      RunKernel(stream, node->shape, correlation, place);
    } else if (node->type == CU_GRAPH_NODE_TYPE_MEMSET) {
      RunSet(stream, node->set_bytes, node->set_value, correlation, true, place);
    } else if (node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      const uint32_t runs = ConditionalRuns(node->condition);
      for (uint32_t i = 0; i < runs; ++i) Run(stream, *node->body, graph_id, correlation);
    }
  }
}

bool SameTopology(const Graph& one, const Graph& other) {
  if (one.nodes.size() != other.nodes.size()) return false;
  for (size_t i = 0; i < one.nodes.size(); ++i) {
    if (one.nodes[i]->type != other.nodes[i]->type) return false;
  }
  return true;
}

}  // namespace

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", nullptr);
  GraphExec* made = new GraphExec;
  GraphEvent event = {.graph = graph,
                      .original_graph = nullptr,
                      .node = nullptr,
                      .original_node = nullptr,
                      .node_type = CU_GRAPH_NODE_TYPE_KERNEL,
                      .exec = ToHandle(made)};
  NotifyGraph(kGraphExecCreateStarting, event);
  made->graph = Clone(*FromHandle(graph), ToHandle(made));
  for (const auto& node : FromHandle(graph)->nodes) made->originals.push_back(node.get());
  *exec = ToHandle(made);
  NotifyGraph(kGraphExecCreated, event);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph,
                              CUgraphExecUpdateResultInfo* info) {
  ApiScope scope(kCallGraphExecUpdate, "cuGraphExecUpdate_v2", nullptr);
  GraphExec* exec = FromHandle(handle);
  Graph* with = FromHandle(graph);
  *info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
  if (!SameTopology(*exec->graph, *with)) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return scope.Return(CUDA_ERROR_INVALID_VALUE);
  }
  for (size_t i = 0; i < with->nodes.size(); ++i) {
    GraphNode* node = exec->graph->nodes[i].get();
    CopyWork(*with->nodes[i], node);
    NotifyGraph(kGraphNodeUpdated, {.graph = graph,
                                    .original_graph = nullptr,
                                    .node = ToHandle(node),
                                    .original_node = ToHandle(with->nodes[i].get()),
                                    .node_type = node->type,
                                    .exec = handle});
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  ApiScope scope(kCallGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2", nullptr);
  GraphExec* exec = FromHandle(handle);
  for (size_t i = 0; i < exec->originals.size(); ++i) {
    if (exec->originals[i] != FromHandle(node)) continue;
    GraphNode* target = exec->graph->nodes[i].get();
    target->shape = ShapeOf(*params);
    NotifyGraph(kGraphNodeSetParams, {.graph = nullptr,
                                      .original_graph = nullptr,
                                      .node = ToHandle(target),
                                      .original_node = node,
                                      .node_type = target->type,
                                      .exec = handle});
    return CUDA_SUCCESS;
  }
  return scope.Return(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  const GraphLaunchParams seen = {handle, stream_handle};
  ApiScope scope(kCallGraphLaunch, "cuGraphLaunch", &seen);
  if (const CUresult failure = TakeArrangedFailure(); failure != CUDA_SUCCESS) {
    return scope.Return(failure);
  }
  Stream* stream = FindStream(stream_handle);
  if (stream == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  GraphExec* exec = FromHandle(handle);
  const uint64_t start_ns = Schedule(stream, 0).start_ns;
  Run(stream, *exec->graph, exec->graph->id, scope.correlation());
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer != nullptr) {
    observer->graph({static_cast<uint32_t>(stream->context->device), stream->context->id,
                     stream->id, scope.correlation(), 0, exec->graph->id, start_ns,
                     stream->tail_ns.load(), CurrentFate()});
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  ApiScope scope(kCallGraphExecDestroy, "cuGraphExecDestroy", &handle);
  NotifyGraph(kGraphExecDestroyStarting, {.graph = nullptr,
                                          .original_graph = nullptr,
                                          .node = nullptr,
                                          .original_node = nullptr,
                                          .node_type = CU_GRAPH_NODE_TYPE_KERNEL,
                                          .exec = handle});
  delete FromHandle(handle);
  return CUDA_SUCCESS;
}

}  // extern "C"
}  // namespace utlz::fake
