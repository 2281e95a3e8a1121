// The interface between NVTX version 3 in a program and the tool that it loads, as nvToolsExt.h
// defines it.
#ifndef UTLZ_TESTS_FAKES_NVTX_ABI_H_
#define UTLZ_TESTS_FAKES_NVTX_ABI_H_

#include <cstddef>
#include <cstdint>

namespace utlz::fake {

using NvtxFunction = void (*)();
using NvtxFunctionTable = NvtxFunction**;
using NvtxGetExportTable = const void* (*)(uint32_t table);
using NvtxInitialize = int (*)(NvtxGetExportTable get_export_table);

enum NvtxExportTable : uint32_t { kNvtxTableCallbacks = 1, kNvtxTableVersion = 3 };
enum NvtxModule : uint32_t { kNvtxModuleCore = 1, kNvtxModuleCore2 = 5 };

struct NvtxCallbacksTable {
  size_t struct_size;
  int (*get_module_function_table)(uint32_t module, NvtxFunctionTable* table, unsigned int* size);
};

struct NvtxVersionTable {
  size_t struct_size;
  uint32_t version;
  uint32_t reserved0;
  void (*set_injection_version)(uint32_t version);
};

enum NvtxCore : uint32_t {
  kNvtxMarkEx = 1,
  kNvtxMarkA = 2,
  kNvtxRangeStartEx = 4,
  kNvtxRangeStartA = 5,
  kNvtxRangeEnd = 7,
  kNvtxRangePushEx = 8,
  kNvtxRangePushA = 9,
  kNvtxRangePop = 11,
  kNvtxCoreSize = 16,
};

enum NvtxCore2 : uint32_t {
  kNvtxDomainMarkEx = 1,
  kNvtxDomainRangeStartEx = 2,
  kNvtxDomainRangeEnd = 3,
  kNvtxDomainRangePushEx = 4,
  kNvtxDomainRangePop = 5,
  kNvtxDomainRegisterStringA = 10,
  kNvtxDomainCreateA = 12,
  kNvtxCore2Size = 16,
};

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_NVTX_ABI_H_
