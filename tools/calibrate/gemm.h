// How many FLOPs a second this GPU attains in a large matrix product of each
// data type, by the machine's own cuBLASLt.
#ifndef UTLZ_TOOLS_CALIBRATE_GEMM_H_
#define UTLZ_TOOLS_CALIBRATE_GEMM_H_

#include <span>

#include "absl/status/statusor.h"
#include "tools/calibrate/cublas_lt.h"
#include "tools/calibrate/gpu.h"
#include "tools/calibrate/steady_rate.h"

namespace utlz {

// A product D = A^T · B of square matrices.
struct GemmType {
  const char* data_type;  // as DevicePeaks names it
  int input_type;         // of A and B, cublas::DataType
  int output_type;        // of C and D
  int compute_type;       // cublas::ComputeType
  int scale_type;
  unsigned size;  // rows and columns
  // What the noise of the inputs is masked with, so that it is numbers of about
  // one: the even and the odd words of 32 bits.
  uint32_t or_even, and_even, or_odd, and_odd;
};

// Every type that some GPU has, the most used ones first.
std::span<const GemmType> GemmTypes();

// FLOPs a second. Unimplemented where this GPU, or this library, has no such
// product.
absl::StatusOr<double> MeasureGemm(const Gpu& gpu, const CublasLt& library, const GemmType& type,
                                   const SteadyRateOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_GEMM_H_
