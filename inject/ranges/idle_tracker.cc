#include "inject/ranges/idle_tracker.h"

#include <cstring>
#include <initializer_list>

namespace utlz::agent {
namespace {

enum class CallKind { kOther, kWork, kLaunch, kStreamSynchronize, kContextSynchronize };

bool StartsWith(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

CallKind KindOf(const char* name) {
  if (StartsWith(name, "cuCtxSynchronize")) return CallKind::kContextSynchronize;
  if (StartsWith(name, "cuStreamSynchronize")) return CallKind::kStreamSynchronize;
  if (StartsWith(name, "cuLaunch") || StartsWith(name, "cuGraphLaunch")) return CallKind::kLaunch;
  // What may put work on the GPU or make a stream wait.
  for (const char* prefix : {"cuMemcpy", "cuMemset", "cuMemPrefetch", "cuMemBatch", "cuStreamWait",
                             "cuStreamWrite", "cuStreamBatch", "cuStreamBeginCapture",
                             "cuWaitExternal", "cuSignalExternal", "cuMemFreeAsync"}) {
    if (StartsWith(name, prefix)) return CallKind::kWork;
  }
  return CallKind::kOther;
}

// Where the stream is in the call's parameters (generated_cuda_meta.h of the toolkit), by name.
struct StreamPlace {
  const char* name;
  bool prefix;
  uint32_t offset;
};
constexpr StreamPlace kStreamPlaces[] = {
    {"cuLaunchKernel", false, 40},        {"cuLaunchKernel_ptsz", false, 40},
    {"cuGraphLaunch", true, 8},           {"cuMemcpyAsync", false, 24},
    {"cuMemcpyHtoDAsync_v2", true, 24},   {"cuMemcpyDtoHAsync_v2", true, 24},
    {"cuMemcpyDtoDAsync_v2", true, 24},   {"cuMemsetD8Async", true, 24},
    {"cuMemsetD16Async", true, 24},       {"cuMemsetD32Async", true, 24},
    {"cuStreamSynchronize", true, 0},
};

uintptr_t ReadPointer(const void* base, uint32_t offset) {
  uintptr_t value;
  memcpy(&value, static_cast<const char*>(base) + offset, sizeof value);
  return value;
}

// False where the call's layout is not known.
bool StreamOf(const cupti::CallbackData& call, uintptr_t* stream) {
  if (call.function_params == nullptr) return false;
  if (StartsWith(call.function_name, "cuLaunchKernelEx")) {
    const uintptr_t config = ReadPointer(call.function_params, 0);
    constexpr uint32_t kStreamInConfig = 32;
    if (config == 0) return false;
    *stream = ReadPointer(reinterpret_cast<const void*>(config), kStreamInConfig);
    return true;
  }
  for (const StreamPlace& place : kStreamPlaces) {
    const bool match = place.prefix ? StartsWith(call.function_name, place.name)
                                    : strcmp(call.function_name, place.name) == 0;
    if (match) {
      *stream = ReadPointer(call.function_params, place.offset);
      return true;
    }
  }
  return false;
}

}  // namespace

void IdleTracker::Reset(bool one_stream_only) {
  all_busy_.store(!one_stream_only);
  for (auto& slot : busy_) slot.store(0);
  launches_.store(0);
}

bool IdleTracker::OnDriverCall(const cupti::CallbackData& call, bool at_exit) {
  if (call.function_name == nullptr) return false;
  const CallKind kind = KindOf(call.function_name);
  uintptr_t stream = 0;
  switch (kind) {
    case CallKind::kOther:
      return false;
    case CallKind::kLaunch:
    case CallKind::kWork:
      if (kind == CallKind::kLaunch && !at_exit) launches_.fetch_add(1, std::memory_order_relaxed);
      if (StreamOf(call, &stream)) {
        MarkBusy(stream);
      } else {
        all_busy_.store(true);
      }
      return false;
    case CallKind::kStreamSynchronize:
      if (!at_exit || !StreamOf(call, &stream)) return false;
      MarkIdle(stream);
      return Idle();
    case CallKind::kContextSynchronize:
      if (!at_exit) return false;
      for (auto& slot : busy_) slot.store(0);
      all_busy_.store(false);
      return true;
  }
  return false;
}

void IdleTracker::MarkBusy(uintptr_t stream) {
  const uintptr_t mark = stream + 1;
  for (auto& slot : busy_) {
    uintptr_t current = slot.load();
    if (current == mark) return;
    if (current == 0 && slot.compare_exchange_strong(current, mark)) return;
    if (current == mark) return;
  }
  all_busy_.store(true);
}

void IdleTracker::MarkIdle(uintptr_t stream) {
  for (auto& slot : busy_) {
    uintptr_t mark = stream + 1;
    slot.compare_exchange_strong(mark, 0);
  }
}

bool IdleTracker::Idle() const {
  if (all_busy_.load()) return false;
  for (const auto& slot : busy_) {
    if (slot.load() != 0) return false;
  }
  return true;
}

}  // namespace utlz::agent
