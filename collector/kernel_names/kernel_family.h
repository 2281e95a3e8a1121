// What kind of work a kernel does, by its name: the rows of a report's roll-up. Names are
// conventions of libraries and compilers; the table of patterns is in kernel_family.cc.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_FAMILY_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_FAMILY_H_

#include <cstdint>
#include <string_view>

namespace utlz {

enum class KernelFamily : uint8_t {
  kGemm,
  kAttention,
  kConvolution,
  kNormalization,
  kPooling,
  kSoftmax,
  kElementwise,
  kReduction,
  kOptimizer,
  kCopy,  // copies, fills, gathers, transposes: nothing is computed
  kCommunication,
  kOther,
};
inline constexpr int kKernelFamilies = 12;

KernelFamily FamilyOf(std::string_view mangled_name);

// A stable identifier: "gemm", "attention", …
const char* NameOf(KernelFamily family);

// Matrix products of any kind.
constexpr bool IsMatrixFamily(KernelFamily family) {
  return family == KernelFamily::kGemm || family == KernelFamily::kAttention ||
         family == KernelFamily::kConvolution;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_FAMILY_H_
