// NVTX through the fake libcupti: the tool half of NVTX version 3, which turns ranges and marks
// into MARKER records.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/fakes/cupti_records.h"
#include "tests/fakes/cupti_results.h"
#include "tests/fakes/nvtx_abi.h"
#include "tests/fakes/record_observer.h"

namespace utlz::fake {
namespace {

// nvtxEventAttributes_t, up to its message.
struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved0;
  uint64_t payload;
  int32_t message_type;
  const char* message;
};
constexpr int32_t kMessageAscii = 1;
constexpr int32_t kMessageRegistered = 3;

struct Domain {
  const char* name;
};

// Records hold pointers to names, so every name stays for the life of the process.
const char* Intern(const char* text) {
  static std::mutex mutex;
  static auto* const texts = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return texts->insert(text == nullptr ? "" : text).first->c_str();
}

const char* MessageOf(const EventAttributes* attributes) {
  const int32_t type = attributes->message_type;
  // A registered string's handle is its interned text.
  if (type == kMessageRegistered) return attributes->message;
  return type == kMessageAscii ? Intern(attributes->message) : Intern("");
}

uint32_t NextId() {
  static std::atomic<uint32_t> next{1};
  return next.fetch_add(1);
}

struct OpenRange {
  uint32_t id;
  const Domain* domain;
};

std::vector<OpenRange>& OpenRanges() {
  thread_local std::vector<OpenRange> ranges;
  return ranges;
}

const char* NameOf(const Domain* domain) { return domain == nullptr ? nullptr : domain->name; }

int Push(const Domain* domain, const char* message) {
  const uint32_t id = NextId();
  OpenRanges().push_back({id, domain});
  RecordMarker(kMarkerStart, id, message, NameOf(domain));
  return static_cast<int>(OpenRanges().size()) - 1;
}

int Pop(const Domain* domain) {
  std::vector<OpenRange>& ranges = OpenRanges();
  for (size_t i = ranges.size(); i-- > 0;) {
    if (ranges[i].domain != domain) continue;
    RecordMarker(kMarkerEnd, ranges[i].id, nullptr, NameOf(domain));
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(i));
    return static_cast<int>(i);
  }
  return -1;
}

uint64_t Start(const Domain* domain, const char* message) {
  const uint32_t id = NextId();
  RecordMarker(kMarkerStart, id, message, NameOf(domain));
  return id;
}

void Mark(const Domain* domain, const char* message) {
  RecordMarker(kMarkerInstantaneous, NextId(), message, NameOf(domain));
}

void MarkEx(const EventAttributes* attributes) { Mark(nullptr, MessageOf(attributes)); }
void MarkA(const char* message) { Mark(nullptr, Intern(message)); }
uint64_t StartEx(const EventAttributes* attributes) {
  return Start(nullptr, MessageOf(attributes));
}
uint64_t StartA(const char* message) { return Start(nullptr, Intern(message)); }
void End(uint64_t id) { RecordMarker(kMarkerEnd, static_cast<uint32_t>(id), nullptr, nullptr); }
int PushEx(const EventAttributes* attributes) { return Push(nullptr, MessageOf(attributes)); }
int PushA(const char* message) { return Push(nullptr, Intern(message)); }
int PopDefault() { return Pop(nullptr); }

void DomainMarkEx(const Domain* domain, const EventAttributes* attributes) {
  Mark(domain, MessageOf(attributes));
}
uint64_t DomainStartEx(const Domain* domain, const EventAttributes* attributes) {
  return Start(domain, MessageOf(attributes));
}
void DomainEnd(const Domain* domain, uint64_t id) {
  RecordMarker(kMarkerEnd, static_cast<uint32_t>(id), nullptr, NameOf(domain));
}
int DomainPushEx(const Domain* domain, const EventAttributes* attributes) {
  return Push(domain, MessageOf(attributes));
}
const char* DomainRegisterStringA(const Domain* domain, const char* text) { return Intern(text); }
const Domain* DomainCreateA(const char* name) { return new Domain{Intern(name)}; }

template <typename Function>
void Install(NvtxFunctionTable table, unsigned int size, uint32_t number, Function function) {
  if (number < size) *table[number] = reinterpret_cast<NvtxFunction>(function);
}

bool InstallCore(const NvtxCallbacksTable& callbacks) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.get_module_function_table(kNvtxModuleCore, &table, &size) == 0) return false;
  Install(table, size, kNvtxMarkEx, MarkEx);
  Install(table, size, kNvtxMarkA, MarkA);
  Install(table, size, kNvtxRangeStartEx, StartEx);
  Install(table, size, kNvtxRangeStartA, StartA);
  Install(table, size, kNvtxRangeEnd, End);
  Install(table, size, kNvtxRangePushEx, PushEx);
  Install(table, size, kNvtxRangePushA, PushA);
  Install(table, size, kNvtxRangePop, PopDefault);
  return true;
}

bool InstallCore2(const NvtxCallbacksTable& callbacks) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.get_module_function_table(kNvtxModuleCore2, &table, &size) == 0) return false;
  Install(table, size, kNvtxDomainMarkEx, DomainMarkEx);
  Install(table, size, kNvtxDomainRangeStartEx, DomainStartEx);
  Install(table, size, kNvtxDomainRangeEnd, DomainEnd);
  Install(table, size, kNvtxDomainRangePushEx, DomainPushEx);
  Install(table, size, kNvtxDomainRangePop, Pop);
  Install(table, size, kNvtxDomainRegisterStringA, DomainRegisterStringA);
  Install(table, size, kNvtxDomainCreateA, DomainCreateA);
  return true;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CuptiResult cuptiNvtxInitialize2(void* get_export_table) {
  const auto get = reinterpret_cast<NvtxGetExportTable>(get_export_table);
  const auto* callbacks = static_cast<const NvtxCallbacksTable*>(get(kNvtxTableCallbacks));
  return callbacks != nullptr && InstallCore(*callbacks) && InstallCore2(*callbacks)
             ? kCuptiSuccess
             : kCuptiUnknown;
}

int InitializeInjectionNvtx2(NvtxGetExportTable get_export_table) {
  return cuptiNvtxInitialize2(reinterpret_cast<void*>(get_export_table)) == kCuptiSuccess ? 1 : 0;
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace utlz::fake
