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

// The payload extension, as nvToolsExtPayload.h defines it.
struct NvtxPayloadData {
  uint64_t schema_id;
  size_t size;
  const void* payload;
};

struct NvtxSchemaEntry {
  uint64_t flags = 0;
  uint64_t type = 0;
  const char* name = nullptr;
  const char* description = nullptr;
  uint64_t array_or_union_detail = 0;
  uint64_t offset = 0;
  const void* semantics = nullptr;
  const void* reserved = nullptr;
};
enum NvtxEntryType : uint64_t {
  kNvtxEntryInt = 5,
  kNvtxEntryUint64 = 18,
  kNvtxEntrySize = 22,
  kNvtxEntryFirstStatic = 1 << 24,  // schemas and enumerations that the program numbers itself
};

struct NvtxSchemaAttributes {
  uint64_t field_mask;
  const char* name;
  uint64_t type;
  uint64_t flags;
  const NvtxSchemaEntry* entries;
  size_t entry_count;
  size_t static_size;
  size_t pack_align;
  uint64_t schema_id;
  const void* extension;
};
// Type, entries and their number, static size and identifier: what NCCL sets.
inline constexpr uint64_t kNvtxSchemaFields = 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8;
inline constexpr uint64_t kNvtxSchemaStatic = 1;
inline constexpr auto kNvtxPayloadExtended = static_cast<int32_t>(0xDFBD0009);

struct NvtxExtensionSegment {
  size_t segment_id;
  size_t slot_count;
  intptr_t* slots;
};
struct NvtxExtensionModule {
  uint16_t nvtx_version;
  uint16_t struct_size;
  uint16_t module_id;
  uint16_t compatibility_id;
  size_t segment_count;
  NvtxExtensionSegment* segments;
  intptr_t (*get_export_function)(uint32_t number);
  const void* extension_info;
};
using NvtxExtensionInitialize = int (*)(NvtxExtensionModule* module);
inline constexpr uint16_t kNvtxModulePayload = 2;
enum NvtxPayloadSlot : size_t { kNvtxSchemaRegister = 0, kNvtxRangePopPayload = 4 };

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_NVTX_ABI_H_
