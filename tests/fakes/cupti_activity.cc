// The activity and callback interfaces of the fake libcupti.
#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/fakes/activity_queue.h"
#include "tests/fakes/cuda_link.h"
#include "tests/fakes/cupti_records.h"
#include "tests/fakes/cupti_results.h"
#include "tests/fakes/cupti_state.h"
#include "tests/fakes/misuse.h"
#include "tests/fakes/record_observer.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {
namespace {

size_t KernelRecordBytes() {
  const uint32_t version = CuptiState::Instance().version();
  if (version >= 130100) return sizeof(NewerKernelRecord);
  return version >= 130000 ? sizeof(Kernel10Record) : sizeof(Kernel9Record);
}

size_t RecordBytes(uint32_t kind) {
  switch (kind) {
    case kActivityMemcpy:
      return sizeof(MemcpyRecord);
    case kActivityMemset:
      return sizeof(MemsetRecord);
    case kActivityKernel:
    case kActivityConcurrentKernel:
      return KernelRecordBytes();
    case kActivityDriver:
    case kActivityRuntime:
      return sizeof(ApiRecord);
    case kActivityContext:
      return sizeof(ContextRecord);
    case kActivityMarker:
      return sizeof(MarkerRecord);
    case kActivityOverhead:
      return sizeof(OverheadRecord);
    case kActivityStream:
      return sizeof(StreamRecord);
    case kActivityGraphTrace:
      return sizeof(GraphTraceRecord);
    default:
      Misuse("a buffer holds a record of unknown kind: not one of ours");
  }
}

CuptiResult SwitchKind(const char* function, uint32_t kind, bool enabled) {
  if (const CuptiResult arranged = ArrangedResult(function)) return arranged;
  ActivityQueue::Instance().CheckProcess();
  if (kind >= kActivityKinds) return kCuptiInvalidParameter;
  if (ScenarioNumber("subscriber_taken", 0) != 0) return kCuptiMultipleSubscribers;
  if (const CuptiResult result = ObserveCuda()) return result;
  if (enabled && !ActivityQueue::Instance().has_callbacks()) return kCuptiInvalidOperation;
  CuptiState::Instance().Enable(kind, enabled);
  return kCuptiSuccess;
}

CuptiResult SwitchKindOf(const char* function, CUcontext context, uint32_t kind, bool enabled) {
  if (const CuptiResult arranged = ArrangedResult(function)) return arranged;
  ContextFacts facts;
  if (kind >= kActivityKinds || FindCuda() == nullptr ||
      !FindCuda()->describe_context(context, &facts)) {
    return kCuptiInvalidParameter;
  }
  if (ScenarioNumber("subscriber_taken", 0) != 0) return kCuptiMultipleSubscribers;
  if (const CuptiResult result = ObserveCuda()) return result;
  if (enabled && !ActivityQueue::Instance().has_callbacks()) return kCuptiInvalidOperation;
  CuptiState::Instance().EnableInContext(facts.id, kind, enabled);
  return kCuptiSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CuptiResult cuptiGetVersion(uint32_t* version) {
  *version = CuptiState::Instance().version();
  return kCuptiSuccess;
}

CuptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  ActivityQueue::Instance().CheckProcess();
  *timestamp = ActivityQueue::Instance().Ticks();
  return kCuptiSuccess;
}

CuptiResult cuptiActivityRegisterTimestampCallback(uint64_t (*ticks)()) {
  if (ticks == nullptr) return kCuptiInvalidParameter;
  ActivityQueue::Instance().SetClock(ticks);
  return kCuptiSuccess;
}

CuptiResult cuptiGetResultString(CuptiResult result, const char** text) {
  switch (result) {
    case kCuptiSuccess:
      *text = "CUPTI_SUCCESS";
      break;
    case kCuptiInvalidParameter:
      *text = "CUPTI_ERROR_INVALID_PARAMETER";
      break;
    case kCuptiInvalidOperation:
      *text = "CUPTI_ERROR_INVALID_OPERATION";
      break;
    case kCuptiHardwareBusy:
      *text = "CUPTI_ERROR_HARDWARE_BUSY";
      break;
    case kCuptiInsufficientPrivileges:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    case kCuptiMultipleSubscribers:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    default:
      *text = "CUPTI_ERROR_UNKNOWN";
      break;
  }
  return kCuptiSuccess;
}

CuptiResult cuptiSubscribe(const Subscriber** handle, CuptiCallback callback, void* user) {
  if (const CuptiResult arranged = ArrangedResult("cuptiSubscribe")) return arranged;
  ActivityQueue::Instance().CheckProcess();
  if (ScenarioNumber("subscriber_taken", 0) != 0) return kCuptiMultipleSubscribers;
  if (const CuptiResult result = ObserveCuda()) return result;
  const Subscriber* subscriber = new Subscriber{callback, user};
  if (!CuptiState::Instance().Subscribe(subscriber)) {
    delete subscriber;
    return kCuptiMultipleSubscribers;
  }
  *handle = subscriber;
  return kCuptiSuccess;
}

CuptiResult cuptiUnsubscribe(const Subscriber* handle) {
  ActivityQueue::Instance().CheckProcess();
  if (CuptiState::Instance().subscriber() != handle) return kCuptiInvalidParameter;
  CuptiState::Instance().Unsubscribe();
  return kCuptiSuccess;
}

CuptiResult cuptiEnableCallback(uint32_t enable, const Subscriber* handle, uint32_t domain,
                                uint32_t callback_id) {
  if (const CuptiResult arranged = ArrangedResult("cuptiEnableCallback")) return arranged;
  ActivityQueue::Instance().CheckProcess();
  if (handle == nullptr || domain >= kCallbackDomains || callback_id >= kCallbacksPerDomain) {
    return kCuptiInvalidParameter;
  }
  CuptiState::Instance().EnableCallback(domain, callback_id, enable != 0);
  return kCuptiSuccess;
}

CuptiResult cuptiEnableDomain(uint32_t enable, const Subscriber* handle, uint32_t domain) {
  if (const CuptiResult arranged = ArrangedResult("cuptiEnableDomain")) return arranged;
  ActivityQueue::Instance().CheckProcess();
  if (handle == nullptr || domain >= kCallbackDomains) return kCuptiInvalidParameter;
  for (uint32_t i = 0; i < kCallbacksPerDomain; ++i) {
    CuptiState::Instance().EnableCallback(domain, i, enable != 0);
  }
  return kCuptiSuccess;
}

CuptiResult cuptiActivityRegisterCallbacks(RequestBufferFunction request,
                                           CompleteBufferFunction complete) {
  if (const CuptiResult arranged = ArrangedResult("cuptiActivityRegisterCallbacks")) {
    return arranged;
  }
  if (request == nullptr || complete == nullptr) return kCuptiInvalidParameter;
  ActivityQueue::Instance().SetCallbacks(request, complete);
  return kCuptiSuccess;
}

CuptiResult cuptiActivityEnable(uint32_t kind) {
  return SwitchKind("cuptiActivityEnable", kind, true);
}

CuptiResult cuptiActivityEnableAndDump(uint32_t kind) {
  return SwitchKind("cuptiActivityEnableAndDump", kind, true);
}

CuptiResult cuptiActivityDisable(uint32_t kind) {
  return SwitchKind("cuptiActivityDisable", kind, false);
}

CuptiResult cuptiActivityFlushAll(uint32_t flag) {
  if (const CuptiResult arranged = ArrangedResult("cuptiActivityFlushAll")) return arranged;
  if (!ActivityQueue::Instance().has_callbacks()) return kCuptiInvalidOperation;
  if (flag != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(ScenarioNumber("flush_ms", 0)));
  ActivityQueue::Instance().Flush(flag != 0);
  return kCuptiSuccess;
}

// The fake's worker hands out full buffers every few milliseconds, whatever the period.
CuptiResult cuptiActivityFlushPeriod(uint32_t period_ms) {
  return ArrangedResult("cuptiActivityFlushPeriod");
}

CuptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, uint8_t** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = *record + RecordBytes(*reinterpret_cast<const uint32_t*>(*record));
  }
  if (next >= buffer + valid_bytes) return kCuptiMaxLimitReached;
  *record = next;
  return kCuptiSuccess;
}

CuptiResult cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* dropped) {
  ActivityQueue::Instance().CheckProcess();
  if (dropped == nullptr) return kCuptiInvalidParameter;
  *dropped = ActivityQueue::Instance().TakeDropped();
  return kCuptiSuccess;
}

CuptiResult cuptiActivitySetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  if (const CuptiResult arranged = ArrangedResult("cuptiActivitySetAttribute")) return arranged;
  return bytes == nullptr || value == nullptr ? kCuptiInvalidParameter : kCuptiSuccess;
}

CuptiResult cuptiActivityGetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  if (bytes == nullptr || value == nullptr || *bytes < sizeof(size_t)) {
    return kCuptiInvalidParameter;
  }
  *static_cast<size_t*>(value) = 0;
  return kCuptiSuccess;
}

CuptiResult cuptiSetThreadIdType(uint32_t type) {
  CuptiState::Instance().thread_ids_are_kernel.store(type == 1);
  return kCuptiSuccess;
}

CuptiResult cuptiActivityEnableContext(CUcontext context, uint32_t kind) {
  return SwitchKindOf("cuptiActivityEnableContext", context, kind, true);
}

CuptiResult cuptiActivityDisableContext(CUcontext context, uint32_t kind) {
  return SwitchKindOf("cuptiActivityDisableContext", context, kind, false);
}

CuptiResult cuptiActivityEnableDriverApi(uint32_t callback_id, uint8_t enable) {
  if (const CuptiResult arranged = ArrangedResult("cuptiActivityEnableDriverApi")) return arranged;
  CuptiState::Instance().RecordDriverCall(callback_id, enable != 0);
  return kCuptiSuccess;
}

CuptiResult cuptiActivityEnableRuntimeApi(uint32_t callback_id, uint8_t enable) {
  return ArrangedResult("cuptiActivityEnableRuntimeApi");
}

CuptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  ContextFacts facts{};
  if (FindCuda() == nullptr || !FindCuda()->describe_context(context, &facts)) {
    return kCuptiInvalidContext;
  }
  *id = facts.id;
  return kCuptiSuccess;
}

CuptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  ContextFacts facts{};
  if (FindCuda() == nullptr || !FindCuda()->describe_context(context, &facts)) {
    return kCuptiInvalidContext;
  }
  *id = facts.device;
  return kCuptiSuccess;
}

CuptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
                               uint32_t* id) {
  if (FindCuda() == nullptr) return kCuptiNotInitialized;
  *id = FindCuda()->stream_id(context, stream);
  return kCuptiSuccess;
}

CuptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  if (FindCuda() == nullptr) return kCuptiNotInitialized;
  *id = FindCuda()->graph_node_id(node);
  return kCuptiSuccess;
}

CuptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  if (FindCuda() == nullptr) return kCuptiNotInitialized;
  *id = FindCuda()->graph_id(graph);
  return kCuptiSuccess;
}

CuptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  if (FindCuda() == nullptr) return kCuptiNotInitialized;
  *id = FindCuda()->graph_exec_id(exec);
  return kCuptiSuccess;
}

uint32_t FakeCuptiSwitchedOn() {
  const CuptiState& state = CuptiState::Instance();
  uint32_t count = state.subscriber() != nullptr ? 1 : 0;
  for (uint32_t kind = 0; kind < kActivityKinds; ++kind) {
    count += state.IsEnabled(static_cast<ActivityKind>(kind)) ? 1 : 0;
  }
  return count + state.EnabledInContexts() + state.RecordedDriverCalls() + RangeProfilersEnabled();
}

uint32_t FakeCuptiCallbacksBeingRegistered() { return CallbacksBeingRegistered(); }

// Takes as long as a real one may; a call from another thread meanwhile would be its end.
CuptiResult cuptiFinalize() {
  const uint64_t duration_ms = ScenarioNumber("finalize_ms", 0);
  if (duration_ms == 0) Misuse("cuptiFinalize kills live processes");
  CuptiState::Instance().BeginTearDown();
  std::this_thread::sleep_for(std::chrono::milliseconds(duration_ms));
  for (uint32_t kind = 0; kind < kActivityKinds; ++kind) {
    CuptiState::Instance().Enable(kind, false);
  }
  ActivityQueue::Instance().SetCallbacks(nullptr, nullptr);
  CuptiState::Instance().EndTearDown();
  return kCuptiSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace utlz::fake
