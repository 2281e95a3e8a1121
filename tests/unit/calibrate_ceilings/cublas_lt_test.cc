// The declarations against cuBLASLt's own header, where it is found, and where the library is
// looked for.
#include "tools/calibrate/cublas_lt.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tools/calibrate/gemm.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
namespace utlz {
template <typename Theirs>
constexpr bool Is(int ours, Theirs theirs) {
  return ours == static_cast<int>(theirs);
}
static_assert(Is(cublas::kFloat32, CUDA_R_32F) && Is(cublas::kFloat64, CUDA_R_64F));
static_assert(Is(cublas::kFloat16, CUDA_R_16F) && Is(cublas::kBfloat16, CUDA_R_16BF));
static_assert(Is(cublas::kInt8, CUDA_R_8I) && Is(cublas::kInt32, CUDA_R_32I));
static_assert(Is(cublas::kFloat8E4m3, CUDA_R_8F_E4M3));
static_assert(Is(cublas::kCompute32F, CUBLAS_COMPUTE_32F));
static_assert(Is(cublas::kCompute64F, CUBLAS_COMPUTE_64F));
static_assert(Is(cublas::kCompute32I, CUBLAS_COMPUTE_32I));
static_assert(Is(cublas::kCompute32FFastTf32, CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(Is(cublas::kTransposeA, CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(Is(cublas::kTransposeB, CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(Is(cublas::kMaxWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(Is(cublas::kTransposed, CUBLAS_OP_T));
static_assert(sizeof(cublas::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(cublas::HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(cublas::HeuristicResult, state) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));
}  // namespace utlz
#endif

namespace utlz {
namespace {

static_assert(sizeof(cublas::HeuristicResult) == 96);

TEST(CublasLtTest, LooksIntoWheelsFirstThenIntoToolkits) {
  const TemporaryFolder root;
  const auto make = [&](const char* path) { return root.Write(path, path); };
  const std::string wheel =
      make("env/lib/python3.12/site-packages/nvidia/cublas/lib/libcublasLt.so.12");
  const std::string newer_wheel =
      make("env/lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13");
  const std::string toolkit = make("usr/local/cuda-13.0/lib64/libcublasLt.so.13");
  make("usr/local/cuda-11.8/lib64/libcublasLt.so.11");
  CublasSearch search;
  search.prefixes = {root.File("env"), root.File("nothing")};
  search.root_directory = root.path();
  EXPECT_EQ(CublasLtPaths(search), (std::vector<std::string>{wheel, newer_wheel, toolkit}));
  search.named_path = "/a/library";
  EXPECT_EQ(CublasLtPaths(search), std::vector<std::string>{"/a/library"});
  EXPECT_EQ(LoadCublasLt(search).status().code(), absl::StatusCode::kNotFound);
}

TEST(GemmTypesTest, MaskNoiseToNumbersOfAboutOne) {
  for (const GemmType& type : GemmTypes()) {
    EXPECT_EQ(type.or_even & type.and_even, 0u) << type.data_type;
    EXPECT_EQ(type.or_odd & type.and_odd, 0u) << type.data_type;
  }
  EXPECT_STREQ(GemmTypes()[0].data_type, "bf16");
}

}  // namespace
}  // namespace utlz
