#include "tools/calibrate/gemm.h"

#include <array>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr int kCandidates = 8;
constexpr size_t kWorkspaceBytes = size_t{64} << 20;

// Exponents of a half, random mantissas and signs.
constexpr uint32_t kOrBf16 = 0x3f003f00, kAndBf16 = 0x807f807f;
constexpr uint32_t kOrFp16 = 0x38003800, kAndFp16 = 0x83ff83ff;
constexpr uint32_t kOrFp32 = 0x3f000000, kAndFp32 = 0x807fffff;
constexpr uint32_t kOrFp8 = 0x30303030, kAndFp8 = 0x87878787;
constexpr uint32_t kAnything = 0xffffffff;

constexpr GemmType kTypes[] = {
    {"bf16", cublas::kBfloat16, cublas::kBfloat16, cublas::kCompute32F, cublas::kFloat32, 8192,
     kOrBf16, kAndBf16, kOrBf16, kAndBf16},
    {"fp16", cublas::kFloat16, cublas::kFloat16, cublas::kCompute32F, cublas::kFloat32, 8192,
     kOrFp16, kAndFp16, kOrFp16, kAndFp16},
    {"fp8", cublas::kFloat8E4m3, cublas::kBfloat16, cublas::kCompute32F, cublas::kFloat32, 8192,
     kOrFp8, kAndFp8, kOrFp8, kAndFp8},
    {"tf32", cublas::kFloat32, cublas::kFloat32, cublas::kCompute32FFastTf32, cublas::kFloat32,
     8192, kOrFp32, kAndFp32, kOrFp32, kAndFp32},
    {"fp32", cublas::kFloat32, cublas::kFloat32, cublas::kCompute32F, cublas::kFloat32, 4096,
     kOrFp32, kAndFp32, kOrFp32, kAndFp32},
    {"int8", cublas::kInt8, cublas::kInt32, cublas::kCompute32I, cublas::kInt32, 8192, 0, kAnything,
     0, kAnything},
    // Little endian: the odd word holds sign and exponent.
    {"fp64_tensor", cublas::kFloat64, cublas::kFloat64, cublas::kCompute64F, cublas::kFloat64, 4096,
     0, kAnything, 0x3fe00000, 0x800fffff},
};

size_t BytesOf(int data_type) {
  switch (data_type) {
    case cublas::kInt8:
    case cublas::kFloat8E4m3:
      return 1;
    case cublas::kFloat16:
    case cublas::kBfloat16:
      return 2;
    case cublas::kFloat64:
      return 8;
    default:
      return 4;
  }
}

// One and zero in every scale type: the bytes that are read hold both.
struct Scale {
  explicit Scale(int scale_type, int value) {
    switch (scale_type) {
      case cublas::kFloat64:
        number.as_double = value;
        break;
      case cublas::kInt32:
        number.as_int = value;
        break;
      default:
        number.as_float = static_cast<float>(value);
    }
  }
  union {
    double as_double;
    float as_float;
    int32_t as_int;
  } number{};
};

// cuBLASLt's objects, destroyed in the reverse order.
template <typename Object>
using Owned = std::unique_ptr<Object, int (*)(Object*)>;

class Product {
 public:
  Product(const Gpu& gpu, const CublasLt& library, const GemmType& type)
      : gpu_(gpu), library_(library), type_(type) {}

  absl::Status Prepare();
  // The candidate that takes the least time becomes the one that Enqueue uses.
  absl::Status Choose();
  absl::Status Enqueue() const;

 private:
  absl::Status MakeObjects();
  absl::Status MakeMatrices();
  absl::Status Unsupported(const char* what, int result) const;

  const Gpu& gpu_;
  const CublasLt& library_;
  const GemmType& type_;
  Owned<cublas::Handle> handle_{nullptr, nullptr};
  Owned<cublas::MatmulDescription> matmul_{nullptr, nullptr};
  Owned<cublas::MatrixLayout> input_{nullptr, nullptr};
  Owned<cublas::MatrixLayout> output_{nullptr, nullptr};
  Owned<cublas::Preference> preference_{nullptr, nullptr};
  std::unique_ptr<DeviceMemory> a_, b_, d_, workspace_;
  cublas::Algorithm algorithm_{};
};

absl::Status Product::Unsupported(const char* what, int result) const {
  return absl::UnimplementedError(absl::StrCat("no ", type_.data_type, " product here: ", what,
                                               " returned cuBLAS status ", result));
}

absl::Status Product::MakeObjects() {
  cublas::Handle* handle = nullptr;
  cublas::MatmulDescription* matmul = nullptr;
  cublas::MatrixLayout* input = nullptr;
  cublas::MatrixLayout* output = nullptr;
  cublas::Preference* preference = nullptr;
  if (int result = library_.create(&handle); result != cublas::kSuccess) {
    return Unsupported("cublasLtCreate", result);
  }
  handle_ = {handle, library_.destroy};
  if (int result = library_.matmul_create(&matmul, type_.compute_type, type_.scale_type);
      result != cublas::kSuccess) {
    return Unsupported("cublasLtMatmulDescCreate", result);
  }
  matmul_ = {matmul, library_.matmul_destroy};
  const int32_t transposed = cublas::kTransposed;
  if (int result =
          library_.matmul_set(matmul, cublas::kTransposeA, &transposed, sizeof(transposed));
      result != cublas::kSuccess) {
    return Unsupported("cublasLtMatmulDescSetAttribute", result);
  }
  if (int result =
          library_.layout_create(&input, type_.input_type, type_.size, type_.size, type_.size);
      result != cublas::kSuccess) {
    return Unsupported("cublasLtMatrixLayoutCreate", result);
  }
  input_ = {input, library_.layout_destroy};
  if (int result =
          library_.layout_create(&output, type_.output_type, type_.size, type_.size, type_.size);
      result != cublas::kSuccess) {
    return Unsupported("cublasLtMatrixLayoutCreate", result);
  }
  output_ = {output, library_.layout_destroy};
  if (int result = library_.preference_create(&preference); result != cublas::kSuccess) {
    return Unsupported("cublasLtMatmulPreferenceCreate", result);
  }
  preference_ = {preference, library_.preference_destroy};
  const size_t workspace_bytes = kWorkspaceBytes;
  if (int result = library_.preference_set(preference, cublas::kMaxWorkspaceBytes, &workspace_bytes,
                                           sizeof(workspace_bytes));
      result != cublas::kSuccess) {
    return Unsupported("cublasLtMatmulPreferenceSetAttribute", result);
  }
  return absl::OkStatus();
}

absl::Status Product::MakeMatrices() {
  const size_t elements = size_t{type_.size} * type_.size;
  const size_t input_bytes = elements * BytesOf(type_.input_type);
  const std::array<std::pair<std::unique_ptr<DeviceMemory>*, size_t>, 4> wanted = {
      {{&a_, input_bytes},
       {&b_, input_bytes},
       {&d_, elements * BytesOf(type_.output_type)},
       {&workspace_, kWorkspaceBytes}}};
  for (const auto& [memory, bytes] : wanted) {
    absl::StatusOr<std::unique_ptr<DeviceMemory>> made = gpu_.Allocate(bytes);
    if (!made.ok()) return made.status();
    *memory = *std::move(made);
  }
  for (const DeviceMemory* matrix : {a_.get(), b_.get()}) {
    CudaPointer pointer = matrix->pointer();
    uint64_t vectors = input_bytes / 16;
    GemmType masks = type_;
    void* fill[] = {&pointer,        &vectors,      &masks.or_even,
                    &masks.and_even, &masks.or_odd, &masks.and_odd};
    if (absl::Status status = gpu_.Launch("utlz_fill", fill); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Product::Prepare() {
  if (absl::Status status = MakeObjects(); !status.ok()) return status;
  return MakeMatrices();
}

absl::Status Product::Choose() {
  std::vector<cublas::HeuristicResult> candidates(kCandidates);
  int found = 0;
  const int result = library_.get_heuristic(
      handle_.get(), matmul_.get(), input_.get(), input_.get(), output_.get(), output_.get(),
      preference_.get(), kCandidates, candidates.data(), &found);
  if (result != cublas::kSuccess || found < 1 || found > kCandidates) {
    return Unsupported("cublasLtMatmulAlgoGetHeuristic", result);
  }
  double best_ms = 0;
  cublas::Algorithm best{};
  for (int i = 0; i < found; ++i) {
    if (candidates[i].state != cublas::kSuccess) continue;
    algorithm_ = candidates[i].algorithm;
    // The first run of a kernel loads it.
    if (!gpu_.TimeMs([this] { return Enqueue(); }).ok()) continue;
    const absl::StatusOr<double> time_ms = gpu_.TimeMs([this] { return Enqueue(); });
    if (!time_ms.ok() || (best_ms > 0 && *time_ms >= best_ms)) continue;
    best_ms = *time_ms;
    best = algorithm_;
  }
  if (best_ms <= 0) return Unsupported("cublasLtMatmul", 0);
  algorithm_ = best;
  return absl::OkStatus();
}

absl::Status Product::Enqueue() const {
  const Scale one(type_.scale_type, 1);
  const Scale zero(type_.scale_type, 0);
  const auto at = [](const std::unique_ptr<DeviceMemory>& memory) {
    return reinterpret_cast<void*>(memory->pointer());
  };
  const int result =
      library_.matmul(handle_.get(), matmul_.get(), &one.number, at(a_), input_.get(), at(b_),
                      input_.get(), &zero.number, at(d_), output_.get(), at(d_), output_.get(),
                      &algorithm_, at(workspace_), kWorkspaceBytes, gpu_.stream());
  return result == cublas::kSuccess ? absl::OkStatus() : Unsupported("cublasLtMatmul", result);
}

}  // namespace

std::span<const GemmType> GemmTypes() { return kTypes; }

absl::StatusOr<double> MeasureGemm(const Gpu& gpu, const CublasLt& library, const GemmType& type,
                                   const SteadyRateOptions& options) {
  Product product(gpu, library, type);
  if (absl::Status status = product.Prepare(); !status.ok()) return status;
  if (absl::Status status = product.Choose(); !status.ok()) return status;
  const absl::StatusOr<double> time_ms = SteadyMs(
      gpu, [&] { return product.Enqueue(); }, options);
  if (!time_ms.ok()) return time_ms.status();
  const double size = type.size;
  return 2 * size * size * size / (*time_ms * 1e-3);
}

}  // namespace utlz
