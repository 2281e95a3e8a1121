#include "collector/sampler/counters/peak_rates.h"

namespace utlz {
namespace {

// Every table says where its numbers are from: the vendor's architecture whitepaper (rates per
// multiprocessor, or peak ÷ (multiprocessors × boost clock)) and, for plain fp32 and fp64, the
// arithmetic-throughput table of the CUDA C++ Programming Guide (results per clock, × 2 for FMA).

// "NVIDIA A100 Tensor Core GPU Architecture": 1024 dense FP16 FMA per cycle and SM.
constexpr PeakRate kAmpere80[] = {
    {"bf16", 2048},       {"fp16", 2048}, {"tf32", 1024}, {"int8", 4096},
    {"fp64_tensor", 128}, {"fp64", 64},   {"fp32", 128},
};

// "NVIDIA Ampere GA102 GPU Architecture": 512 dense FP16 FMA per cycle and SM with FP16
// accumulation; FP32 accumulation, as in bf16, halves it on GeForce parts and not on others, so the
// full rate stands here.
constexpr PeakRate kAmpere86[] = {
    {"bf16", 1024}, {"fp16", 1024}, {"tf32", 512}, {"int8", 2048}, {"fp64", 4}, {"fp32", 256},
};

// "NVIDIA Ada GPU Architecture": as GA102 with FP8 at twice the FP16 rate.
constexpr PeakRate kAda89[] = {
    {"bf16", 1024}, {"fp16", 1024}, {"tf32", 512}, {"fp8", 2048},
    {"int8", 2048}, {"fp64", 4},    {"fp32", 256},
};

// "NVIDIA H100 Tensor Core GPU Architecture": 2048 dense FP16 FMA per cycle and SM; its 67 TFLOPS
// of FP64 tensor work at 132 SMs are 256 FLOP per cycle and SM.
constexpr PeakRate kHopper90[] = {
    {"bf16", 4096}, {"fp16", 4096},       {"tf32", 2048}, {"fp8", 8192},
    {"int8", 8192}, {"fp64_tensor", 256}, {"fp64", 128},  {"fp32", 256},
};

// "NVIDIA Turing GPU Architecture": 512 FP16 FMA per cycle and SM.
constexpr PeakRate kTuring75[] = {
    {"fp16", 1024},
    {"int8", 2048},
    {"fp64", 4},
    {"fp32", 128},
};

// "NVIDIA Blackwell Architecture Technical Brief": B200 dense 2.25 PFLOPS FP16, 4.5 PFLOPS FP8 and
// 9 PFLOPS FP4 over 148 SMs at 1.85 GHz.
constexpr PeakRate kBlackwell100[] = {
    {"bf16", 8192}, {"fp16", 8192},  {"tf32", 4096}, {"fp8", 16384},
    {"fp4", 32768}, {"int8", 16384}, {"fp64", 128},  {"fp32", 256},
};

// "NVIDIA RTX Blackwell GPU Architecture": tensor rates per SM as Ada's, FP4 at twice FP8.
constexpr PeakRate kBlackwell120[] = {
    {"bf16", 1024}, {"fp16", 1024}, {"tf32", 512}, {"fp8", 2048},
    {"fp4", 4096},  {"int8", 2048}, {"fp64", 4},   {"fp32", 256},
};

}  // namespace

std::span<const PeakRate> PeakRates(int compute_capability_major, int compute_capability_minor) {
  switch (compute_capability_major * 10 + compute_capability_minor) {
    case 75:
      return kTuring75;
    case 80:
      return kAmpere80;
    case 86:
      return kAmpere86;
    case 89:
      return kAda89;
    case 90:
      return kHopper90;
    case 100:
      return kBlackwell100;
    case 120:
    case 121:
      return kBlackwell120;
    default:
      return {};
  }
}

double TensorPipesPerMultiprocessor(int compute_capability_major) {
  // One in each of the four quarters since Ampere; Turing has eight and counts are not known.
  return compute_capability_major >= 8 ? 4 : 0;
}

}  // namespace utlz
