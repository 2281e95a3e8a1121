#include "tests/fakes/cuda_link.h"

#include <dlfcn.h>

namespace utlz::fake {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool Resolve(CudaLink* link) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library != nullptr && Find(library, "FakeCudaSetObserver", &link->set_observer) &&
         Find(library, "FakeCudaDescribeContext", &link->describe_context) &&
         Find(library, "FakeCudaStreamId", &link->stream_id) &&
         Find(library, "FakeCudaStreamPriority", &link->stream_priority) &&
         Find(library, "FakeCudaGraphNodeId", &link->graph_node_id) &&
         Find(library, "FakeCudaGraphId", &link->graph_id) &&
         Find(library, "FakeCudaGraphExecId", &link->graph_exec_id) &&
         Find(library, "FakeCudaDrainContext", &link->drain_context) &&
         Find(library, "FakeCudaInitializedPid", &link->initialized_pid) &&
         Find(library, "FakeCudaHasContext", &link->has_context);
}

}  // namespace

const CudaLink* FindCuda() {
  static CudaLink link;
  static const bool found = Resolve(&link);
  return found ? &link : nullptr;
}

}  // namespace utlz::fake
