// One kernel for each shape of mma.sync, for Nsight Compute to count operations and cycles of the
// tensor pipe: how much a cycle does differs between them. See mma_rates.py.
#include <cstdint>
#include <cstdio>

constexpr int kTurns = 20'000;
constexpr int kChains = 8;  // independent accumulators, so that the pipe is never waited for


// The matrices' contents do not matter, so that one register serves for each of them.
#define MMA_KERNEL(NAME, INSTRUCTION, ACCUMULATOR, MATRICES, TYPE, CONSTRAINT, OPERAND, REGISTER)  \
  __global__ void NAME(TYPE* out) {                                                         \
    const OPERAND a = threadIdx.x, b = blockIdx.x;                                          \
    TYPE c[kChains][4] = {};                                                                \
    for (int turn = 0; turn < kTurns; ++turn)                                               \
      _Pragma("unroll") for (int i = 0; i < kChains; ++i) asm volatile(                     \
          "mma.sync.aligned." INSTRUCTION " " ACCUMULATOR ", " MATRICES ", " ACCUMULATOR    \
          ";"                                                                               \
          : "+" CONSTRAINT(c[i][0]), "+" CONSTRAINT(c[i][1]), "+" CONSTRAINT(c[i][2]),      \
            "+" CONSTRAINT(c[i][3])                                                         \
          : REGISTER(a), REGISTER(b));                                                      \
    for (auto& chain : c) out[threadIdx.x] += chain[0] + chain[1] + chain[2] + chain[3];    \
  }

#define FOUR "{%0,%1,%2,%3}"
#define TWO "{%0,%1}"
#define WIDE "{%4,%4,%4,%4}, {%5,%5}"
#define NARROW "{%4,%4}, {%5}"
#define SMALL "{%4}, {%5}"
#define TO_FLOATS float, "f", uint32_t, "r"
#define TO_INTEGERS int, "r", uint32_t, "r"

#define MMA(...) MMA_KERNEL(__VA_ARGS__)
MMA(m16n8k16_fp16, "m16n8k16.row.col.f32.f16.f16.f32", FOUR, WIDE, TO_FLOATS)
MMA(m16n8k8_fp16, "m16n8k8.row.col.f32.f16.f16.f32", FOUR, NARROW, TO_FLOATS)
MMA(m16n8k16_fp16_into_fp16, "m16n8k16.row.col.f16.f16.f16.f16", TWO, WIDE, uint32_t, "r",
    uint32_t, "r")
MMA(m16n8k16_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", FOUR, WIDE, TO_FLOATS)
MMA(m16n8k8_bf16, "m16n8k8.row.col.f32.bf16.bf16.f32", FOUR, NARROW, TO_FLOATS)
MMA(m16n8k8_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", FOUR, WIDE, TO_FLOATS)
MMA(m16n8k4_tf32, "m16n8k4.row.col.f32.tf32.tf32.f32", FOUR, NARROW, TO_FLOATS)
MMA(m16n8k32_fp8, "m16n8k32.row.col.f32.e4m3.e4m3.f32", FOUR, WIDE, TO_FLOATS)
MMA(m16n8k32_int8, "m16n8k32.row.col.s32.s8.s8.s32", FOUR, WIDE, TO_INTEGERS)
MMA(m16n8k16_int8, "m16n8k16.row.col.s32.s8.s8.s32", FOUR, NARROW, TO_INTEGERS)
MMA(m8n8k16_int8, "m8n8k16.row.col.s32.s8.s8.s32", TWO, SMALL, TO_INTEGERS)
MMA(m8n8k4_fp64, "m8n8k4.row.col.f64.f64.f64.f64", TWO, SMALL, double, "d", double, "d")

// What elementwise kernels do beside arithmetic: which of it moves the tensor pipe's counter.
#define SCALAR(NAME, TYPE, EXPRESSION)                                       \
  __global__ void NAME(TYPE* out) {                                          \
    TYPE x = static_cast<TYPE>(threadIdx.x + 1), y = static_cast<TYPE>(3);   \
    for (int turn = 0; turn < kTurns * kChains; ++turn) x = (EXPRESSION);    \
    out[threadIdx.x] = x + y;                                                \
  }
SCALAR(exponential, float, __expf(x))
SCALAR(sine, float, __sinf(x))
SCALAR(reciprocal, float, __frcp_rn(x))
SCALAR(root, float, __fsqrt_rn(x))
SCALAR(multiply_add, float, x* y + 1.0f)
SCALAR(integer_multiply, int, x* y + 1)
SCALAR(to_integer_and_back, float, static_cast<float>(static_cast<int>(x)) * y)

#define PACKED(NAME, INSTRUCTION)                                                   \
  __global__ void NAME(uint32_t* out) {                                             \
    uint32_t x = threadIdx.x, y = blockIdx.x;                                       \
    for (int turn = 0; turn < kTurns * kChains; ++turn)                             \
      asm volatile(INSTRUCTION " %0, %0, %1, %1;" : "+r"(x) : "r"(y));              \
    out[threadIdx.x] = x;                                                           \
  }
PACKED(packed_fp16, "fma.rn.f16x2")
PACKED(packed_bf16, "fma.rn.bf16x2")

__global__ void tanh_of_the_hardware(float* out) {
  float x = threadIdx.x;
  for (int turn = 0; turn < kTurns * kChains; ++turn)
    asm volatile("tanh.approx.f32 %0, %0;" : "+f"(x));
  out[threadIdx.x] = x;
}

__global__ void float_to_bf16(uint32_t* out) {
  float x = threadIdx.x, y = blockIdx.x;
  uint32_t packed = 0, sum = 0;
  for (int turn = 0; turn < kTurns * kChains; ++turn) {
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(x), "f"(y));
    sum ^= packed;
    x = __uint_as_float(sum);
  }
  out[threadIdx.x] = sum;
}

int main() {
  void* out = nullptr;
  if (cudaMalloc(&out, 1 << 16) != cudaSuccess) {
    std::printf("no CUDA GPU\n");
    return 77;
  }
  constexpr int kBlocks = 264, kThreads = 256;
  const auto floats = static_cast<float*>(out);
  const auto integers = static_cast<int*>(out);
  const auto words = static_cast<uint32_t*>(out);
  m16n8k16_fp16<<<kBlocks, kThreads>>>(floats);
  m16n8k8_fp16<<<kBlocks, kThreads>>>(floats);
  m16n8k16_fp16_into_fp16<<<kBlocks, kThreads>>>(words);
  m16n8k16_bf16<<<kBlocks, kThreads>>>(floats);
  m16n8k8_bf16<<<kBlocks, kThreads>>>(floats);
  m16n8k8_tf32<<<kBlocks, kThreads>>>(floats);
  m16n8k4_tf32<<<kBlocks, kThreads>>>(floats);
  m16n8k32_fp8<<<kBlocks, kThreads>>>(floats);
  m16n8k32_int8<<<kBlocks, kThreads>>>(integers);
  m16n8k16_int8<<<kBlocks, kThreads>>>(integers);
  m8n8k16_int8<<<kBlocks, kThreads>>>(integers);
  m8n8k4_fp64<<<kBlocks, kThreads>>>(static_cast<double*>(out));
  exponential<<<kBlocks, kThreads>>>(floats);
  sine<<<kBlocks, kThreads>>>(floats);
  reciprocal<<<kBlocks, kThreads>>>(floats);
  root<<<kBlocks, kThreads>>>(floats);
  multiply_add<<<kBlocks, kThreads>>>(floats);
  integer_multiply<<<kBlocks, kThreads>>>(integers);
  to_integer_and_back<<<kBlocks, kThreads>>>(floats);
  packed_fp16<<<kBlocks, kThreads>>>(words);
  packed_bf16<<<kBlocks, kThreads>>>(words);
  tanh_of_the_hardware<<<kBlocks, kThreads>>>(floats);
  float_to_bf16<<<kBlocks, kThreads>>>(words);
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
