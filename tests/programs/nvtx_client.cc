#include "tests/programs/nvtx_client.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
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

Tables& AllTables() {
  static Tables* const tables = [] {
    Tables* made = new Tables;
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

void Initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* path = std::getenv("NVTX_INJECTION64_PATH");
    if (path == nullptr) return;
    void* library = dlopen(path, RTLD_LAZY);
    if (library == nullptr) return;
    const auto initialize =
        reinterpret_cast<NvtxInitialize>(dlsym(library, "InitializeInjectionNvtx2"));
    if (initialize != nullptr) initialize(GetExportTable);
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

}  // namespace utlz::fake
