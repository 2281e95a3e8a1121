// The functions of one copy of NVTX that the agent takes over.
#ifndef UTLZ_INJECT_DRIVER_NVTX_FUNCTIONS_H_
#define UTLZ_INJECT_DRIVER_NVTX_FUNCTIONS_H_

#include "inject/driver/nvtx_abi.h"

namespace utlz::agent::nvtx {

// Each is one place of NVTX's table, which a tool may write to.
struct Functions {
  Function* push = nullptr;
  Function* pop = nullptr;
  Function* register_string = nullptr;
  Function* create_domain = nullptr;
};

// False where the copy has no such table.
inline bool FindFunctions(GetExportTable get_export_table, Functions* functions) {
  const auto* callbacks = static_cast<const CallbacksTable*>(get_export_table(kTableCallbacks));
  Function** table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr ||
      callbacks->get_module_function_table(kModuleCore2, &table, &size) == 0 || table == nullptr ||
      size <= kDomainCreateA) {
    return false;
  }
  *functions = {table[kDomainRangePushEx], table[kDomainRangePop], table[kDomainRegisterStringA],
                table[kDomainCreateA]};
  return true;
}

}  // namespace utlz::agent::nvtx

#endif  // UTLZ_INJECT_DRIVER_NVTX_FUNCTIONS_H_
