// Plain CUDA C++ with the static runtime: a stream copy, a fused-multiply-add loop and a CUDA graph
// of both, each of known FLOPs and bytes. Prints what it did as one line of JSON.
//
//   nvcc -O2 -std=c++17 -arch=sm_90 -cudart static -o cuda_static cuda_static.cu
//   cuda_static [launches] [mebibytes] [graph launches]
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kThreads = 256;
constexpr int kFmaBlocks = 1056;
constexpr int kFmaPerThread = 4096;
constexpr int kCopiesInGraph = 10;

void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "cuda_static: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

}  // namespace

__global__ void StreamCopy(const float4* source, float4* target, size_t count) {
  for (size_t index = blockIdx.x * size_t{blockDim.x} + threadIdx.x; index < count;
       index += size_t{gridDim.x} * blockDim.x) {
    target[index] = source[index];
  }
}

__global__ void FusedMultiplyAdd(float* out, float factor) {
  float value = static_cast<float>(threadIdx.x);
#pragma unroll 16
  for (int i = 0; i < kFmaPerThread; ++i) value = fmaf(value, factor, 1.0f);
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

namespace {

void LaunchPair(const float4* source, float4* target, size_t count, float* out,
                cudaStream_t stream) {
  StreamCopy<<<2112, kThreads, 0, stream>>>(source, target, count);
  FusedMultiplyAdd<<<kFmaBlocks, kThreads, 0, stream>>>(out, 0.999f);
}

cudaGraphExec_t CaptureGraph(const float4* source, float4* target, size_t count, float* out,
                             cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  for (int i = 0; i < kCopiesInGraph; ++i) LaunchPair(source, target, count, out, stream);
  Check(cudaStreamEndCapture(stream, &graph), "end capture");
  Check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  return executable;
}

long Argument(int argc, char** argv, int index, long fallback) {
  return argc > index ? std::strtol(argv[index], nullptr, 10) : fallback;
}

}  // namespace

int main(int argc, char** argv) {
  const long launches = Argument(argc, argv, 1, 200);
  const size_t bytes = static_cast<size_t>(Argument(argc, argv, 2, 1024)) << 20;
  const long graph_launches = Argument(argc, argv, 3, 20);
  const size_t count = bytes / sizeof(float4);

  float4* source;
  float4* target;
  float* out;
  Check(cudaMalloc(&source, bytes), "allocate");
  Check(cudaMalloc(&target, bytes), "allocate");
  Check(cudaMalloc(&out, sizeof(float) * kFmaBlocks * kThreads), "allocate");
  Check(cudaMemset(source, 0, bytes), "set");
  cudaStream_t stream;
  Check(cudaStreamCreate(&stream), "create stream");

  for (long i = 0; i < launches; ++i) LaunchPair(source, target, count, out, stream);
  if (graph_launches > 0) {
    const cudaGraphExec_t graph = CaptureGraph(source, target, count, out, stream);
    for (long i = 0; i < graph_launches; ++i) Check(cudaGraphLaunch(graph, stream), "launch graph");
  }
  Check(cudaStreamSynchronize(stream), "synchronize");
  Check(cudaGetLastError(), "launch");

  const double each = static_cast<double>(launches + graph_launches * kCopiesInGraph);
  const double fma_flops = 2.0 * kFmaPerThread * kFmaBlocks * kThreads;
  std::printf(
      "{\"workload\": \"cuda_static\", \"pid\": %d, \"expected\": {\"kernels\": {"
      "\"StreamCopy\": {\"launches\": %.0f, \"dram_read_bytes\": %.0f, "
      "\"dram_write_bytes\": %.0f}, \"FusedMultiplyAdd\": {\"launches\": %.0f, "
      "\"flops\": %.0f}}, \"kernel_launches\": %.0f}}\n",
      getpid(), each, each * static_cast<double>(bytes), each * static_cast<double>(bytes), each,
      each * fma_flops, 2 * each);
  return 0;
}
