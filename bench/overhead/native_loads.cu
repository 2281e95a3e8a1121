// Loads that Python is too slow to make: launches as fast as the driver takes them. A shared
// library for loads.py; every function waits for its own work and returns 0 or the CUDA error.
//
//   nvcc -O2 -std=c++17 -arch=native -cudart static -shared -Xcompiler -fPIC -o ... native_loads.cu
#include <cuda_runtime.h>

#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 8;
constexpr int kStreamsPerThread = 8;
constexpr int kGraphs = 64;
constexpr int kNodesPerGraph = 4;

__global__ void Empty() {}

__global__ void Short(float* out) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < 200; ++i) value = fmaf(value, 0.5f, 1.0f);
  if (value < 0.0f) *out = value;
}

std::vector<cudaStream_t>& Streams() {
  static std::vector<cudaStream_t> streams = [] {
    std::vector<cudaStream_t> made(kThreads * kStreamsPerThread);
    for (cudaStream_t& stream : made) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return made;
  }();
  return streams;
}

std::vector<cudaGraphExec_t>& Graphs() {
  static std::vector<cudaGraphExec_t> graphs = [] {
    std::vector<cudaGraphExec_t> made(kGraphs);
    for (cudaGraphExec_t& executable : made) {
      cudaGraph_t graph;
      cudaStreamBeginCapture(Streams()[0], cudaStreamCaptureModeThreadLocal);
      for (int i = 0; i < kNodesPerGraph; ++i) Short<<<16, 128, 0, Streams()[0]>>>(nullptr);
      cudaStreamEndCapture(Streams()[0], &graph);
      cudaGraphInstantiate(&executable, graph, 0);
    }
    return made;
  }();
  return graphs;
}

}  // namespace

extern "C" int LaunchStorm(int launches) {
  for (int i = 0; i < launches; ++i) Empty<<<1, 32, 0, Streams()[0]>>>();
  return cudaStreamSynchronize(Streams()[0]);
}

extern "C" int LaunchFromThreads(int launches_per_stream) {
  Streams();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([thread, launches_per_stream] {
      for (int i = 0; i < launches_per_stream * kStreamsPerThread; ++i) {
        const int stream = thread * kStreamsPerThread + i % kStreamsPerThread;
        Short<<<4, 128, 0, Streams()[stream]>>>(nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return cudaDeviceSynchronize();
}

extern "C" int LaunchSmallGraphs(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (cudaGraphExec_t graph : Graphs()) cudaGraphLaunch(graph, Streams()[0]);
  }
  return cudaStreamSynchronize(Streams()[0]);
}
