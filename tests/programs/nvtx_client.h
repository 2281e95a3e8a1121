// The application's half of NVTX version 3, as far as the target programs need it: finds the tool
// that NVTX_INJECTION64_PATH names, on the first call, and forwards to it.
#ifndef UTLZ_TESTS_PROGRAMS_NVTX_CLIENT_H_
#define UTLZ_TESTS_PROGRAMS_NVTX_CLIENT_H_

#include <cstdint>

#include "tests/fakes/nvtx_abi.h"

namespace utlz::fake {

// nvtxEventAttributes_t.
struct NvtxAttributes {
  uint16_t version = 3;
  uint16_t size = 48;
  uint32_t category = 0;
  int32_t color_type = 0;
  uint32_t color = 0;
  int32_t payload_type = 0;
  int32_t reserved0 = 0;
  uint64_t payload = 0;
  int32_t message_type = 1;  // NVTX_MESSAGE_TYPE_ASCII
  const char* message = nullptr;
};
static_assert(sizeof(NvtxAttributes) == 48);

using NvtxDomain = struct nvtxDomainRegistration_st*;

void NvtxMark(const char* message);
void NvtxPush(const char* message);
void NvtxPop();
uint64_t NvtxStart(const char* message);
void NvtxEnd(uint64_t range);
NvtxDomain NvtxCreateDomain(const char* name);
void NvtxDomainPush(NvtxDomain domain, const char* message);
void NvtxDomainPop(NvtxDomain domain);

// As NCCL uses it: registered names, and payloads of the extension at a range's begin or end.
using NvtxString = const void*;
NvtxString NvtxRegisterString(NvtxDomain domain, const char* text);
void NvtxRegisterSchema(NvtxDomain domain, const NvtxSchemaEntry* entries, size_t entry_count,
                        uint64_t schema_id, size_t static_size);
// `payload` may be null.
void NvtxDomainPushRegistered(NvtxDomain domain, NvtxString message,
                              const NvtxPayloadData* payload);
void NvtxDomainPopPayload(NvtxDomain domain, const NvtxPayloadData& payload);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_PROGRAMS_NVTX_CLIENT_H_
