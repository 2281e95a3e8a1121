// The demonstration's kernels, compiled beforehand, since no machine needs a compiler to run it:
//
//   nvcc -ptx -O3 -arch=compute_75 -o - kernels.cu | sed '/^\/\//d; s/^.version .*/.version 6.4/' >
//   kernels.ptx
//
// Nothing in them needs a newer PTX than 6.4, which every driver since CUDA 10.1 compiles.

// Bound by memory: reads and writes 16 bytes a turn.
extern "C" __global__ void utlz_demo_stream(const float4* source, float4* target,
                                            unsigned long long count) {
  const unsigned long long threads = gridDim.x * static_cast<unsigned long long>(blockDim.x);
  for (unsigned long long i =
           blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
       i < count; i += threads) {
    target[i] = source[i];
  }
}

// Bound by arithmetic: eight FLOPs a turn in four independent chains.
extern "C" __global__ void utlz_demo_multiply_add(float* out, unsigned int turns) {
  float a = threadIdx.x;
  float b = a + 1.0f;
  float c = a + 2.0f;
  float d = a + 3.0f;
  for (unsigned int i = 0; i < turns; ++i) {
    a = fmaf(a, 0.999f, 1.0f);
    b = fmaf(b, 0.999f, 1.0f);
    c = fmaf(c, 0.999f, 1.0f);
    d = fmaf(d, 0.999f, 1.0f);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

// Bound by its own launch.
extern "C" __global__ void utlz_demo_tiny(float* out) { out[threadIdx.x] += 1.0f; }
