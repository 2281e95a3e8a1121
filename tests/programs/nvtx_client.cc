#include "tests/programs/nvtx_client.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <mutex>

#include "tests/fakes/nvtx_abi.h"

namespace utlz::fake {
namespace {

// The functions that a tool may fill in, one table a module, indexed by callback number.
struct Tables {
  NvtxFunction core[kNvtxCoreSize] = {};
  NvtxFunction core2[kNvtxCore2Size] = {};
  NvtxFunction* core_entries[kNvtxCoreSize] = {};
  NvtxFunction* core2_entries[kNvtxCore2Size] = {};
};

// In real tables until a tool has answered: it looks for one, and calls what the table has then. So
// a tool that takes it for another tool's function calls itself for ever.
void LookForATool() { std::abort(); }

Tables& AllTables() {
  static Tables* const tables = [] {
    Tables* made = new Tables;
    std::fill(std::begin(made->core), std::end(made->core), LookForATool);
    std::fill(std::begin(made->core2), std::end(made->core2), LookForATool);
    for (uint32_t i = 0; i < kNvtxCoreSize; ++i) made->core_entries[i] = &made->core[i];
    for (uint32_t i = 0; i < kNvtxCore2Size; ++i) made->core2_entries[i] = &made->core2[i];
    return made;
  }();
  return *tables;
}

int GetModuleFunctionTable(uint32_t module, NvtxFunctionTable* table, unsigned int* size) {
  if (module == kNvtxModuleCore) {
    *table = AllTables().core_entries;
    *size = kNvtxCoreSize;
    return 1;
  }
  if (module == kNvtxModuleCore2) {
    *table = AllTables().core2_entries;
    *size = kNvtxCore2Size;
    return 1;
  }
  return 0;
}

void SetInjectionVersion(uint32_t version) {}

const void* GetExportTable(uint32_t table) {
  static const NvtxCallbacksTable callbacks = {sizeof(NvtxCallbacksTable), GetModuleFunctionTable};
  static const NvtxVersionTable version = {sizeof(NvtxVersionTable), 3, 0, SetInjectionVersion};
  if (table == kNvtxTableCallbacks) return &callbacks;
  return table == kNvtxTableVersion ? static_cast<const void*>(&version) : nullptr;
}

// What no tool has taken does nothing.
void LeaveOut(NvtxFunction* function) {
  if (*function == LookForATool) *function = nullptr;
}

void InitializeTool() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path != nullptr ? dlopen(path, RTLD_LAZY) : nullptr;
  if (library == nullptr) return;
  const auto initialize =
      reinterpret_cast<NvtxInitialize>(dlsym(library, "InitializeInjectionNvtx2"));
  if (initialize != nullptr) initialize(GetExportTable);
}

void Initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeTool();
    for (NvtxFunction& function : AllTables().core) LeaveOut(&function);
    for (NvtxFunction& function : AllTables().core2) LeaveOut(&function);
  });
}

template <typename Function>
Function Core(uint32_t number) {
  Initialize();
  return reinterpret_cast<Function>(AllTables().core[number]);
}

template <typename Function>
Function Core2(uint32_t number) {
  Initialize();
  return reinterpret_cast<Function>(AllTables().core2[number]);
}

// The slots of the payload extension, found as NVTX does: the core first, then the extension's own
// way into the same library.
constexpr size_t kPayloadSlots = 8;

intptr_t* PayloadSlots() {
  Initialize();
  static intptr_t* const slots = [] {
    static intptr_t made[kPayloadSlots] = {};
    const char* path = std::getenv("NVTX_INJECTION64_PATH");
    void* library = path != nullptr ? dlopen(path, RTLD_LAZY) : nullptr;
    if (library == nullptr) return made;
    const auto initialize = reinterpret_cast<NvtxExtensionInitialize>(
        dlsym(library, "InitializeInjectionNvtxExtension"));
    NvtxExtensionSegment segment = {0, kPayloadSlots, made};
    NvtxExtensionModule module = {3,       sizeof(module), kNvtxModulePayload, 0x0104, 1, &segment,
                                  nullptr, nullptr};
    if (initialize == nullptr || initialize(&module) == 0) {
      for (intptr_t& slot : made) slot = 0;
    }
    return made;
  }();
  return slots;
}

}  // namespace

void NvtxMark(const char* message) {
  if (const auto call = Core<void (*)(const char*)>(kNvtxMarkA)) call(message);
}

void NvtxPush(const char* message) {
  if (const auto call = Core<int (*)(const char*)>(kNvtxRangePushA)) call(message);
}

void NvtxPop() {
  if (const auto call = Core<int (*)()>(kNvtxRangePop)) call();
}

uint64_t NvtxStart(const char* message) {
  const auto call = Core<uint64_t (*)(const char*)>(kNvtxRangeStartA);
  return call != nullptr ? call(message) : 0;
}

void NvtxEnd(uint64_t range) {
  if (const auto call = Core<void (*)(uint64_t)>(kNvtxRangeEnd)) call(range);
}

NvtxDomain NvtxCreateDomain(const char* name) {
  const auto call = Core2<NvtxDomain (*)(const char*)>(kNvtxDomainCreateA);
  return call != nullptr ? call(name) : nullptr;
}

void NvtxDomainPush(NvtxDomain domain, const char* message) {
  NvtxAttributes attributes;
  attributes.message = message;
  const auto call = Core2<int (*)(NvtxDomain, const NvtxAttributes*)>(kNvtxDomainRangePushEx);
  if (call != nullptr) call(domain, &attributes);
}

void NvtxDomainPop(NvtxDomain domain) {
  if (const auto call = Core2<int (*)(NvtxDomain)>(kNvtxDomainRangePop)) call(domain);
}

NvtxString NvtxRegisterString(NvtxDomain domain, const char* text) {
  const auto call = Core2<NvtxString (*)(NvtxDomain, const char*)>(kNvtxDomainRegisterStringA);
  return call != nullptr ? call(domain, text) : nullptr;
}

void NvtxRegisterSchema(NvtxDomain domain, const NvtxSchemaEntry* entries, size_t entry_count,
                        uint64_t schema_id, size_t static_size) {
  const intptr_t slot = PayloadSlots()[kNvtxSchemaRegister];
  if (slot == 0) return;
  NvtxSchemaAttributes attributes = {};
  attributes.field_mask = kNvtxSchemaFields;
  attributes.type = kNvtxSchemaStatic;
  attributes.entries = entries;
  attributes.entry_count = entry_count;
  attributes.static_size = static_size;
  attributes.schema_id = schema_id;
  reinterpret_cast<uint64_t (*)(NvtxDomain, const NvtxSchemaAttributes*)>(slot)(domain,
                                                                                &attributes);
}

void NvtxDomainPushRegistered(NvtxDomain domain, NvtxString message,
                              const NvtxPayloadData* payload) {
  NvtxAttributes attributes;
  attributes.message_type = 3;  // NVTX_MESSAGE_TYPE_REGISTERED
  attributes.message = static_cast<const char*>(message);
  if (payload != nullptr) {
    attributes.payload_type = kNvtxPayloadExtended;
    attributes.reserved0 = 1;
    attributes.payload = reinterpret_cast<uint64_t>(payload);
  }
  const auto call = Core2<int (*)(NvtxDomain, const NvtxAttributes*)>(kNvtxDomainRangePushEx);
  if (call != nullptr) call(domain, &attributes);
}

void NvtxDomainPopPayload(NvtxDomain domain, const NvtxPayloadData& payload) {
  const intptr_t slot = PayloadSlots()[kNvtxRangePopPayload];
  if (slot == 0) return;
  reinterpret_cast<int (*)(NvtxDomain, const NvtxPayloadData*, size_t)>(slot)(domain, &payload, 1);
}

}  // namespace utlz::fake
