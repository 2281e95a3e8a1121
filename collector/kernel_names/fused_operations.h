// Operations of a program that a compiler made one kernel of, as far as the kernel's name says so.
// Inductor writes all operations of ATen that it fused ("triton_poi_fused_add_relu_3"), XLA the
// ones that a fusion ends in ("loop_add_multiply_fusion_5").
//
// An underscore separates two operations, or two words of one operation's name. A table lists the
// names of several words; the parser takes every other word for one operation.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_FUSED_OPERATIONS_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_FUSED_OPERATIONS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace utlz {

inline constexpr size_t kMostFusedOperations = 64;       // those beyond are left out
inline constexpr size_t kMaxFusedNameBytes = 4096;       // a longer name says nothing
inline constexpr size_t kMaxFusedOperationsBytes = 512;  // of FusedOperationsText

// Parts of `kernel_name`, in its order; none where no compiler that is known named the kernel, or
// where it wrote no operation. Names of any bytes are safe; the parts are of letters, digits and
// underscores.
std::vector<std::string_view> FusedOperationsOf(std::string_view kernel_name);

// "add + relu"; empty where there are none. "…" stands for what is left out.
std::string FusedOperationsText(std::string_view kernel_name);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_FUSED_OPERATIONS_H_
