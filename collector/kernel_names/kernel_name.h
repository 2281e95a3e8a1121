// Names of kernels for people: demangled, then shortened to what tells one from another.
//
// Names come from the target: lengths are bounded, and nothing is trusted to be well formed. The
// results may hold any bytes; whoever shows them escapes them.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_NAME_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace utlz {

inline constexpr size_t kMaxMangledNameBytes = 16384;
inline constexpr size_t kMaxDemangledNameBytes = 16384;
inline constexpr size_t kMaxShortNameBytes = 96;

// The C++ name, without parameters' values being lost; the input itself (cut) where it is not a
// mangled name or does not demangle within the bounds.
std::string DemangleKernelName(std::string_view mangled_name);

// Function name without namespaces of frameworks, template arguments cut to the telling ones (types
// and functors, not policies and lambdas' numbering), no parameter list.
// "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, …"
// → "vectorized_elementwise_kernel<CUDAFunctor_add<BFloat16>>".
std::string ShortenKernelName(std::string_view demangled_name);

// Makes equal names different by appending "#1", "#2", … in order.
void MakeUnique(std::vector<std::string>* names);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_NAME_H_
