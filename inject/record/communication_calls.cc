#include "inject/record/communication_calls.h"

#include <pthread.h>

#include <atomic>
#include <cstring>

#include "inject/base/clock.h"
#include "inject/driver/nvtx_functions.h"

namespace utlz::agent {
namespace {

constexpr char kWatchedDomain[] = "NCCL";
constexpr uint32_t kMaxDomains = 8;  // copies of NCCL in the process
constexpr uint32_t kMaxNames = 256;
constexpr uint32_t kMaxNameBytes = 64;

using PushEx = int (*)(nvtx::Domain, const nvtx::EventAttributes*);
using Pop = int (*)(nvtx::Domain);
using RegisterString = nvtx::String (*)(nvtx::Domain, const char*);
using CreateDomain = nvtx::Domain (*)(const char*);

struct Name {
  nvtx::String handle;
  char text[kMaxNameBytes];
};

// There from the start and never destroyed: NVTX may call at any time, until the very end.
struct State {
  std::atomic<bool> watches{false};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // held while a table grows
  PushEx push = nullptr;
  Pop pop = nullptr;
  RegisterString register_string = nullptr;
  CreateDomain create_domain = nullptr;
  std::atomic<nvtx::Domain> domains[kMaxDomains] = {};
  std::atomic<uint32_t> names{0};  // number 0 stays empty
  Name name[kMaxNames] = {};
  PayloadSchemas schemas;
  CallQueue<CommunicationCall> queue;
};
constinit State state;

bool IsWatched(nvtx::Domain domain) {
  if (domain == nullptr) return false;
  for (const auto& watched : state.domains) {
    const nvtx::Domain one = watched.load(std::memory_order_acquire);
    if (one == domain) return true;
    if (one == nullptr) return false;
  }
  return false;
}

// The number of the first name that `is_it`; 0 where none is. Names stay where they are.
template <typename IsIt>
uint32_t FindNumber(IsIt is_it) {
  const uint32_t count = state.names.load(std::memory_order_acquire);
  for (uint32_t number = 1; number <= count; ++number) {
    if (is_it(state.name[number])) return number;
  }
  return 0;
}

// The number that a new name gets; 0 where there is no room.
uint32_t AddName(nvtx::String handle, const char* text) {
  const uint32_t number = state.names.load(std::memory_order_relaxed) + 1;
  if (number >= kMaxNames) return 0;
  Name& added = state.name[number];
  added.handle = handle;
  std::strncpy(added.text, text, kMaxNameBytes - 1);
  state.names.store(number, std::memory_order_release);
  return number;
}

// The number of a name, which is kept if it is new; 0 where there is no room.
uint32_t NumberOf(nvtx::String handle, const char* text) {
  if (text == nullptr) return 0;
  const auto is_it = [handle, text](const Name& name) {
    return name.handle == handle && std::strncmp(name.text, text, kMaxNameBytes - 1) == 0;
  };
  const uint32_t known = FindNumber(is_it);
  if (known != 0) return known;
  pthread_mutex_lock(&state.mutex);
  uint32_t number = FindNumber(is_it);  // another thread may have met it meanwhile
  if (number == 0) number = AddName(handle, text);
  pthread_mutex_unlock(&state.mutex);
  return number;
}

// Names that were given as text have no handle.
uint32_t NumberOfHandle(nvtx::String handle) {
  if (handle == nullptr) return 0;
  return FindNumber([handle](const Name& name) { return name.handle == handle; });
}

void Note(uint32_t function, const CallDetails& details) {
  // CUPTI names threads by pthread_self, unless a client asks for another way.
  state.queue.Push({RealtimeNs(), static_cast<uint32_t>(pthread_self()), function, details});
}

void NotePush(nvtx::Domain domain, const nvtx::EventAttributes* attributes) {
  // One that is not understood begins all the same: its end comes too.
  uint32_t function = kMaxNames;
  CallDetails details;
  if (attributes != nullptr && attributes->size >= sizeof(nvtx::EventAttributes)) {
    const uint32_t number = attributes->message_type == nvtx::kMessageRegistered
                                ? NumberOfHandle(attributes->message)
                            : attributes->message_type == nvtx::kMessageAscii
                                ? NumberOf(nullptr, static_cast<const char*>(attributes->message))
                                : 0;
    if (number != 0) function = number;
    if (attributes->payload_type == nvtx::kPayloadExtended) {
      const size_t count =
          attributes->payload_count > 0 ? static_cast<size_t>(attributes->payload_count) : 1;
      state.schemas.Read(domain, reinterpret_cast<const nvtx::PayloadData*>(attributes->payload),
                         count, &details);
    }
  }
  Note(function, details);
}

int OnPushEx(nvtx::Domain domain, const nvtx::EventAttributes* attributes) {
  if (IsWatched(domain)) NotePush(domain, attributes);
  return state.push(domain, attributes);
}

int OnPop(nvtx::Domain domain) {
  if (IsWatched(domain)) Note(0, {});
  return state.pop(domain);
}

nvtx::String OnRegisterString(nvtx::Domain domain, const char* text) {
  const nvtx::String handle = state.register_string(domain, text);
  if (handle != nullptr && IsWatched(domain)) NumberOf(handle, text);
  return handle;
}

nvtx::Domain OnCreateDomain(const char* name) {
  const nvtx::Domain domain = state.create_domain(name);
  if (domain == nullptr || name == nullptr || std::strcmp(name, kWatchedDomain) != 0) return domain;
  pthread_mutex_lock(&state.mutex);
  for (auto& watched : state.domains) {
    const nvtx::Domain one = watched.load(std::memory_order_relaxed);
    if (one == nullptr) watched.store(domain, std::memory_order_release);
    if (one == nullptr || one == domain) break;
  }
  pthread_mutex_unlock(&state.mutex);
  return domain;
}

uint64_t OnSchemaRegister(nvtx::Domain domain, const nvtx::SchemaAttributes* schema) {
  if (schema == nullptr) return 0;
  if (IsWatched(domain)) state.schemas.Register(domain, *schema);
  return schema->schema_id;
}

// A range's end with a payload. CUPTI does not know this call, so it gets a plain end instead. It
// does not know the ranges that other domains push with payloads either, so it must not see their
// ends.
int OnRangePopPayload(nvtx::Domain domain, const nvtx::PayloadData* payloads, size_t count) {
  constexpr int kNoTracking = -2;  // NVTX_NO_PUSH_POP_TRACKING
  if (!IsWatched(domain)) return kNoTracking;
  CallDetails details;
  state.schemas.Read(domain, payloads, count, &details);
  Note(0, details);
  return state.pop(domain);
}

template <typename Function>
bool Same(nvtx::Function found, Function known) {
  return reinterpret_cast<Function>(found) == known;
}

}  // namespace

void WatchCommunication(nvtx::GetExportTable get_export_table) {
  nvtx::Functions functions;
  if (!nvtx::FindFunctions(get_export_table, &functions)) return;
  nvtx::Function &push = *functions.push, &pop = *functions.pop;
  nvtx::Function& register_string = *functions.register_string;
  nvtx::Function& create_domain = *functions.create_domain;
  if (push == nullptr || pop == nullptr || register_string == nullptr || create_domain == nullptr) {
    return;
  }
  pthread_mutex_lock(&state.mutex);
  if (!state.watches.load(std::memory_order_relaxed) && state.queue.Create()) {
    state.push = reinterpret_cast<PushEx>(push);
    state.pop = reinterpret_cast<Pop>(pop);
    state.register_string = reinterpret_cast<RegisterString>(register_string);
    state.create_domain = reinterpret_cast<CreateDomain>(create_domain);
    state.watches.store(true, std::memory_order_release);
  }
  const bool known = state.watches.load(std::memory_order_relaxed) && Same(push, state.push) &&
                     Same(pop, state.pop) && Same(register_string, state.register_string) &&
                     Same(create_domain, state.create_domain);
  pthread_mutex_unlock(&state.mutex);
  if (!known) return;
  push = reinterpret_cast<nvtx::Function>(OnPushEx);
  pop = reinterpret_cast<nvtx::Function>(OnPop);
  register_string = reinterpret_cast<nvtx::Function>(OnRegisterString);
  create_domain = reinterpret_cast<nvtx::Function>(OnCreateDomain);
}

bool WatchPayloads(nvtx::ExtensionModule* module) {
  if (module == nullptr || module->module_id != nvtx::kModulePayload ||
      module->segment_count == 0 || module->segments == nullptr || !WatchesCommunication()) {
    return false;
  }
  // Slots before NCCL 2.24's are fewer.
  const nvtx::ExtensionSegment& segment = module->segments[0];
  if (segment.slots == nullptr || segment.slot_count <= nvtx::kSlotSchemaRegister) return false;
  segment.slots[nvtx::kSlotSchemaRegister] = reinterpret_cast<intptr_t>(OnSchemaRegister);
  if (segment.slot_count > nvtx::kSlotRangePopPayload) {
    segment.slots[nvtx::kSlotRangePopPayload] = reinterpret_cast<intptr_t>(OnRangePopPayload);
  }
  return true;
}

bool WatchesCommunication() { return state.watches.load(std::memory_order_acquire); }

bool TakeCommunicationCall(CommunicationCall* call) { return state.queue.Pop(call); }

uint64_t TakeLostCommunicationCalls() { return state.queue.TakeLost(); }

const char* CommunicationFunctionName(uint32_t function) {
  return function < kMaxNames ? state.name[function].text : "";
}

}  // namespace utlz::agent
