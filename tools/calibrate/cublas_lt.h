// The part of cuBLASLt that utlz calibrate uses, declared here so that building
// needs no CUDA toolkit, and where to find the library. A test compares it with
// cublasLt.h wherever that is found.
#ifndef UTLZ_TOOLS_CALIBRATE_CUBLAS_LT_H_
#define UTLZ_TOOLS_CALIBRATE_CUBLAS_LT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz {
namespace cublas {

inline constexpr int kSuccess = 0;

// cudaDataType_t
enum DataType : int {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kInt8 = 3,
  kInt32 = 10,
  kBfloat16 = 14,
  kFloat8E4m3 = 28,
};

// cublasComputeType_t
enum ComputeType : int {
  kCompute32F = 68,
  kCompute64F = 70,
  kCompute32I = 72,
  kCompute32FFastTf32 = 77,
};

enum MatmulAttribute : int { kTransposeA = 3, kTransposeB = 4 };
enum PreferenceAttribute : int { kMaxWorkspaceBytes = 1 };
inline constexpr int32_t kTransposed = 1;

struct Handle;
struct MatmulDescription;
struct MatrixLayout;
struct Preference;

struct Algorithm {
  uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace cublas

struct CublasLt {
  std::string path;
  int (*create)(cublas::Handle**) = nullptr;
  int (*destroy)(cublas::Handle*) = nullptr;
  size_t (*get_version)() = nullptr;
  int (*matmul_create)(cublas::MatmulDescription**, int compute_type, int scale_type) = nullptr;
  int (*matmul_destroy)(cublas::MatmulDescription*) = nullptr;
  int (*matmul_set)(cublas::MatmulDescription*, int attribute, const void*, size_t) = nullptr;
  int (*layout_create)(cublas::MatrixLayout**, int data_type, uint64_t rows, uint64_t columns,
                       int64_t leading_dimension) = nullptr;
  int (*layout_destroy)(cublas::MatrixLayout*) = nullptr;
  int (*preference_create)(cublas::Preference**) = nullptr;
  int (*preference_destroy)(cublas::Preference*) = nullptr;
  int (*preference_set)(cublas::Preference*, int attribute, const void*, size_t) = nullptr;
  int (*get_heuristic)(cublas::Handle*, cublas::MatmulDescription*, cublas::MatrixLayout* a,
                       cublas::MatrixLayout* b, cublas::MatrixLayout* c, cublas::MatrixLayout* d,
                       cublas::Preference*, int requested, cublas::HeuristicResult*,
                       int* returned) = nullptr;
  int (*matmul)(cublas::Handle*, cublas::MatmulDescription*, const void* alpha, const void* a,
                cublas::MatrixLayout*, const void* b, cublas::MatrixLayout*, const void* beta,
                const void* c, cublas::MatrixLayout*, void* d, cublas::MatrixLayout*,
                const cublas::Algorithm*, void* workspace, size_t workspace_bytes,
                void* stream) = nullptr;
};

struct CublasSearch {
  std::string named_path = {};             // named by the user: alone if it is given
  std::vector<std::string> prefixes = {};  // of Python installations, whose wheels are looked into
  std::string root_directory = {};         // before every fixed place, for tests
};

// Prefixes of the Python that is on PATH and of virtual and Conda environments
// that are active.
std::vector<std::string> PythonPrefixes();

// Files of libcublasLt in the order in which to try them: in wheels, which
// PyTorch will use, in toolkits, in the loader's folders.
std::vector<std::string> CublasLtPaths(const CublasSearch& search);

// NotFound where none can be loaded; the message says how to get one.
absl::StatusOr<CublasLt> LoadCublasLt(const CublasSearch& search);

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_CUBLAS_LT_H_
