// Which framework a kernel is of, by its name. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_FRAMEWORK_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_FRAMEWORK_H_

#include <string_view>

namespace utlz {

enum class Framework {
  kUnknown,  // of a library that all use, or of the program's own
  kPyTorch,
  kJax,  // XLA
};

Framework FrameworkOf(std::string_view mangled_name);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_FRAMEWORK_H_
