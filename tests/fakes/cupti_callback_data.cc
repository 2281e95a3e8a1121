#include "tests/fakes/cupti_callback_data.h"

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cupti_state.h"
#include "tests/fakes/misuse.h"

namespace utlz::fake {
namespace {

// CUpti_CallbackData.
struct ApiData {
  uint32_t site;
  const char* function_name;
  const void* function_params;
  void* return_value;
  const char* symbol_name;
  CUcontext context;
  uint32_t context_uid;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};

// CUpti_ResourceData, CUpti_ModuleResourceData, CUpti_GraphData, CUpti_SynchronizeData.
struct ResourceData {
  CUcontext context;
  CUstream stream;
  void* descriptor;
};
struct ModuleData {
  uint32_t module_id;
  size_t cubin_size;
  const char* cubin;
};
struct GraphData {
  CUgraph graph;
  CUgraph original_graph;
  CUgraphNode node;
  CUgraphNode original_node;
  CUgraphNodeType node_type;
  CUgraphNode dependency;
  CUgraphExec exec;
};
struct SynchronizeData {
  CUcontext context;
  CUstream stream;
};

bool Deliver(CallbackSort sort, uint32_t domain, uint32_t callback_id, const void* data) {
  const Subscriber* subscriber = CuptiState::Instance().subscriber();
  if (subscriber == nullptr) return false;
  const CallbackScope scope(sort);
  subscriber->callback(subscriber->user, domain, callback_id, data);
  return true;
}

bool IsModuleEvent(uint32_t event) {
  return event == kModuleLoaded || event == kModuleUnloadStarting;
}

}  // namespace

bool DeliverApiCallback(const ApiCall& call) {
  if (!CuptiState::Instance().WantsCallback(kDomainDriver, call.callback_id)) return false;
  const ApiData data = {call.exit ? 1u : 0u,
                        call.name,
                        call.params,
                        call.result,
                        nullptr,
                        call.context,
                        call.context_id,
                        call.correlation_data,
                        call.correlation};
  return Deliver(CallbackSort::kApi, kDomainDriver, call.callback_id, &data);
}

void DeliverResourceCallback(uint32_t event, CUcontext context, CUstream stream,
                             const void* descriptor) {
  if (!CuptiState::Instance().WantsCallback(kDomainResource, event)) return;
  ResourceData data = {context, stream, nullptr};
  ModuleData module{};
  GraphData graph{};
  if (IsModuleEvent(event)) {
    module.module_id = *static_cast<const uint32_t*>(descriptor);
    data.descriptor = &module;
  } else if (descriptor != nullptr) {
    const auto& details = *static_cast<const GraphEvent*>(descriptor);
    graph = {details.graph,     details.original_graph, details.node, details.original_node,
             details.node_type, nullptr,                details.exec};
    data.descriptor = &graph;
  }
  Deliver(CallbackSort::kResource, kDomainResource, event, &data);
}

void DeliverSynchronizeCallback(uint32_t event, CUcontext context, CUstream stream) {
  if (!CuptiState::Instance().WantsCallback(kDomainSynchronize, event)) return;
  const SynchronizeData data = {context, stream};
  Deliver(CallbackSort::kSynchronize, kDomainSynchronize, event, &data);
}

}  // namespace utlz::fake
