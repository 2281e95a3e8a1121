// A libcudart of another release than the fake's, which refuses everything with a number of its
// own.
#define FUNCTION(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return 812; }

FUNCTION(cudaStreamBeginCapture)
FUNCTION(cudaStreamEndCapture)
FUNCTION(cudaGraphInstantiate)
FUNCTION(cudaGraphLaunch)
