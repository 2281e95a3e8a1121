// Launches kernels, sets and a graph for so many seconds, then does nothing for so many
// milliseconds, and ends. Another thread sets memory all the while, to the very end, where asked:
// nobody waits for it. Prints how many kernels and sets it launched, but for that thread's.
//
//   nvcc -O2 -std=c++17 -arch=native -cudart static -o last_gap bench/gpu/last_gap.cu
//   last_gap SECONDS IDLE_MILLISECONDS [busy]
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEager = 100;
constexpr int kNodes = 20;

__global__ void Eager() {}
__global__ void Node() {}

void SetForEver() {
  void* memory = nullptr;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&memory, 4096);
  while (cudaMemsetAsync(memory, 0, 4096, stream) == cudaSuccess) {
  }
}

cudaGraphExec_t Capture(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int i = 0; i < kNodes; ++i) Node<<<1, 32, 0, stream>>>();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  return executable;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  cudaStream_t stream;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 77;
  const cudaGraphExec_t graph = Capture(stream);
  if (argc > 3) std::thread(SetForEver).detach();
  unsigned long steps = 0;
  for (const auto end = Clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
       Clock::now() < end; ++steps) {
    for (int i = 0; i < kEager; ++i) Eager<<<1, 32, 0, stream>>>();
    cudaGraphLaunch(graph, stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atol(argv[2])));
  std::printf("{\"kernels\": %lu}\n", steps * (kEager + kNodes));
  return 0;
}
