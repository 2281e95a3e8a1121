// Kernels of a cubin: an ELF file with a section of machine code for each.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_CUBIN_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_CUBIN_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "collector/kernel_code/describe_code.h"

namespace utlz {

// Mangled.
using KernelNames = std::set<std::string, std::less<>>;

bool IsCubin(std::string_view bytes);

// Calls `named` for each kernel that the cubin has code of. What is damaged has no kernels.
void NameKernels(std::string_view bytes, const std::function<void(std::string_view name)>& named);

// Calls `found` once for each of these kernels that the cubin has. Its code lies in `bytes`. What
// is damaged has no kernels.
void FindKernels(std::string_view bytes, const KernelNames& mangled_names,
                 const std::function<void(std::string_view name, const MachineCode& code)>& found);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_CUBIN_H_
