// Names of kernels for narrow columns: shortened so that what tells two apart stays to be read.
// Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_TEXT_KERNEL_NAME_FIT_H_
#define UTLZ_COLLECTOR_TEXT_KERNEL_NAME_FIT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace utlz {

// A short name (KernelSummary.short_name), already escaped, in at most `columns` characters. What
// goes first are types and words that most names have, then the template around an operation,
// then the grid, and only then the middle of what is left.
std::string FitKernelName(std::string_view name, size_t columns);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_KERNEL_NAME_FIT_H_
