// Holds our declarations of NVTX, and those of the tests' stand-in, against the real headers, where
// these are installed.

#include "inject/driver/nvtx_abi.h"

#include <gtest/gtest.h>

#include "tests/fakes/nvtx_abi.h"

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>

namespace {
namespace ours = utlz::agent::nvtx;
namespace fake = utlz::fake;

#define SAME_SIZE(Ours, Theirs) static_assert(sizeof(Ours) == sizeof(Theirs))
#define SAME_PLACE(Ours, our_field, Theirs, their_field) \
  static_assert(offsetof(Ours, our_field) == offsetof(Theirs, their_field))

SAME_SIZE(ours::EventAttributes, nvtxEventAttributes_t);
SAME_PLACE(ours::EventAttributes, size, nvtxEventAttributes_t, size);
SAME_PLACE(ours::EventAttributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_PLACE(ours::EventAttributes, payload_count, nvtxEventAttributes_t, reserved0);
SAME_PLACE(ours::EventAttributes, payload, nvtxEventAttributes_t, payload);
SAME_PLACE(ours::EventAttributes, message_type, nvtxEventAttributes_t, messageType);
SAME_PLACE(ours::EventAttributes, message, nvtxEventAttributes_t, message);
static_assert(ours::kMessageAscii == NVTX_MESSAGE_TYPE_ASCII);
static_assert(ours::kMessageRegistered == NVTX_MESSAGE_TYPE_REGISTERED);
static_assert(ours::kPayloadExtended == NVTX_PAYLOAD_TYPE_EXT);

SAME_SIZE(ours::PayloadData, nvtxPayloadData_t);
SAME_PLACE(ours::PayloadData, payload, nvtxPayloadData_t, payload);
SAME_SIZE(ours::SchemaEntry, nvtxPayloadSchemaEntry_t);
SAME_PLACE(ours::SchemaEntry, name, nvtxPayloadSchemaEntry_t, name);
SAME_PLACE(ours::SchemaEntry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_SIZE(ours::SchemaAttributes, nvtxPayloadSchemaAttr_t);
SAME_PLACE(ours::SchemaAttributes, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_PLACE(ours::SchemaAttributes, entry_count, nvtxPayloadSchemaAttr_t, numEntries);
SAME_PLACE(ours::SchemaAttributes, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_PLACE(ours::SchemaAttributes, pack_align, nvtxPayloadSchemaAttr_t, packAlign);
SAME_PLACE(ours::SchemaAttributes, schema_id, nvtxPayloadSchemaAttr_t, schemaId);
static_assert(ours::kSchemaHasEntries == (NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                                          NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES));
static_assert(ours::kSchemaHasAlignment == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
static_assert(ours::kSchemaHasId == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
static_assert(ours::kSchemaStatic == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
static_assert((ours::kEntryIsNoValue & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0);
static_assert((ours::kEntryIsNoValue & NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX) != 0);

SAME_SIZE(ours::ExtensionModule, nvtxExtModuleInfo_t);
SAME_PLACE(ours::ExtensionModule, module_id, nvtxExtModuleInfo_t, moduleId);
SAME_PLACE(ours::ExtensionModule, segments, nvtxExtModuleInfo_t, segments);
SAME_SIZE(ours::ExtensionSegment, nvtxExtModuleSegment_t);
SAME_PLACE(ours::ExtensionSegment, slots, nvtxExtModuleSegment_t, functionSlots);
static_assert(ours::kModulePayload == NVTX_EXT_PAYLOAD_MODULEID);
static_assert(ours::kSlotSchemaRegister == NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
static_assert(ours::kSlotRangePopPayload == NVTX3EXT_CBID_nvtxRangePopPayload);

static_assert(ours::kModuleCore2 == NVTX_CB_MODULE_CORE2);
static_assert(ours::kDomainRangePushEx == NVTX_CBID_CORE2_DomainRangePushEx);
static_assert(ours::kDomainRangePop == NVTX_CBID_CORE2_DomainRangePop);
static_assert(ours::kDomainRegisterStringA == NVTX_CBID_CORE2_DomainRegisterStringA);
static_assert(ours::kDomainCreateA == NVTX_CBID_CORE2_DomainCreateA);
static_assert(ours::kTableCallbacks == NVTX_ETID_CALLBACKS);

SAME_SIZE(fake::NvtxSchemaEntry, nvtxPayloadSchemaEntry_t);
SAME_SIZE(fake::NvtxSchemaAttributes, nvtxPayloadSchemaAttr_t);
SAME_SIZE(fake::NvtxPayloadData, nvtxPayloadData_t);
SAME_SIZE(fake::NvtxExtensionModule, nvtxExtModuleInfo_t);
static_assert(fake::kNvtxEntryInt == NVTX_PAYLOAD_ENTRY_TYPE_INT);
static_assert(fake::kNvtxEntryUint64 == NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
static_assert(fake::kNvtxEntrySize == NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
static_assert(fake::kNvtxEntryFirstStatic == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);

TEST(NvtxAbiTest, IsThatOfTheInstalledHeaders) {}

}  // namespace
#else

TEST(NvtxAbiTest, IsThatOfTheInstalledHeaders) { GTEST_SKIP() << "NVTX's headers are not here"; }

#endif
