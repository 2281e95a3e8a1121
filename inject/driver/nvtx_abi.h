// The few NVTX types and numbers that the agent uses, declared here so that it builds without
// NVTX's headers: version 3's tables of functions, event attributes, and the payload extension. A
// test holds them against the real headers where these are installed.
#ifndef UTLZ_INJECT_DRIVER_NVTX_ABI_H_
#define UTLZ_INJECT_DRIVER_NVTX_ABI_H_

#include <cstddef>
#include <cstdint>

namespace utlz::agent::nvtx {

using Domain = const void*;
using String = const void*;

// NvtxGetExportTableFunc_t, NvtxExportTableCallbacks
using GetExportTable = const void* (*)(uint32_t table);
inline constexpr uint32_t kTableCallbacks = 1;
using Function = void (*)();
struct CallbacksTable {
  size_t struct_size;
  int (*get_module_function_table)(uint32_t module, Function*** table, unsigned int* size);
};

// NvtxCallbackModule, NvtxCallbackIdCore2
inline constexpr uint32_t kModuleCore2 = 5;
inline constexpr uint32_t kDomainRangePushEx = 4;
inline constexpr uint32_t kDomainRangePop = 5;
inline constexpr uint32_t kDomainRegisterStringA = 10;
inline constexpr uint32_t kDomainCreateA = 12;

// nvtxEventAttributes_t
struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t payload_count;  // reserved0, but for the extension's payloads
  uint64_t payload;
  int32_t message_type;
  const void* message;
};
inline constexpr int32_t kMessageAscii = 1;
inline constexpr int32_t kMessageRegistered = 3;
inline constexpr auto kPayloadExtended = static_cast<int32_t>(0xDFBD0009);

// nvtxPayloadData_t
struct PayloadData {
  uint64_t schema_id;
  size_t size;
  const void* payload;
};

// nvtxPayloadSchemaEntry_t
struct SchemaEntry {
  uint64_t flags;
  uint64_t type;
  const char* name;
  const char* description;
  uint64_t array_or_union_detail;
  uint64_t offset;
  const void* semantics;
  const void* reserved;
};
// What makes an entry more than a plain value in its place: pointers, offsets and arrays.
inline constexpr uint64_t kEntryIsNoValue = 1u << 1 | 1u << 2 | 1u << 3 | 7u << 4;

// nvtxPayloadSchemaAttr_t
struct SchemaAttributes {
  uint64_t field_mask;
  const char* name;
  uint64_t type;
  uint64_t flags;
  const SchemaEntry* entries;
  size_t entry_count;
  size_t static_size;
  size_t pack_align;
  uint64_t schema_id;
  const void* extension;
};
inline constexpr uint64_t kSchemaHasEntries = 1u << 4 | 1u << 5;
inline constexpr uint64_t kSchemaHasAlignment = 1u << 7;
inline constexpr uint64_t kSchemaHasId = 1u << 8;
inline constexpr uint64_t kSchemaStatic = 1;

// nvtxExtModuleSegment_t, nvtxExtModuleInfo_t
struct ExtensionSegment {
  size_t segment_id;
  size_t slot_count;
  intptr_t* slots;
};
struct ExtensionModule {
  uint16_t nvtx_version;
  uint16_t struct_size;
  uint16_t module_id;
  uint16_t compatibility_id;
  size_t segment_count;
  ExtensionSegment* segments;
  void* get_export_function;
  const void* extension_info;
};
inline constexpr uint16_t kModulePayload = 2;
inline constexpr size_t kSlotSchemaRegister = 0;
inline constexpr size_t kSlotRangePopPayload = 4;

}  // namespace utlz::agent::nvtx

#endif  // UTLZ_INJECT_DRIVER_NVTX_ABI_H_
