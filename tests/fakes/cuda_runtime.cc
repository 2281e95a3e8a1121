// A libcudart of the few functions by which programs capture CUDA graphs and launch them.
#include "tests/fakes/cuda_driver.h"

namespace utlz::fake {

#pragma GCC visibility push(default)
extern "C" {

int cudaStreamBeginCapture(CUstream stream, int mode) {
  return cuStreamBeginCapture_v2(stream, static_cast<CUstreamCaptureMode>(mode));
}

int cudaStreamEndCapture(CUstream stream, CUgraph* graph) {
  return cuStreamEndCapture(stream, graph);
}

int cudaGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return cuGraphInstantiateWithFlags(executable, graph, flags);
}

int cudaGraphLaunch(CUgraphExec executable, CUstream stream) {
  return cuGraphLaunch(executable, stream);
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace utlz::fake
