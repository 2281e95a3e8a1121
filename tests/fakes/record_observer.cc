#include "tests/fakes/record_observer.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "tests/fakes/activity_queue.h"
#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_link.h"
#include "tests/fakes/cupti_callback_data.h"
#include "tests/fakes/cupti_records.h"
#include "tests/fakes/cupti_state.h"
#include "tests/fakes/observer.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {
namespace {

constexpr uint64_t kLateNs = 100'000'000;
constexpr uint32_t kFirstVersionOfKernel10 = 130000;
constexpr uint32_t kFirstNewerVersion = 130100;

uint32_t ThreadId() {
  if (CuptiState::Instance().thread_ids_are_kernel.load()) {
    return static_cast<uint32_t>(syscall(SYS_gettid));
  }
  return static_cast<uint32_t>(pthread_self());
}

template <typename Record>
void Enqueue(const Record& record, size_t start_offset, uint64_t ready_ns) {
  PendingRecord pending;
  pending.bytes.resize(sizeof(record));
  std::memcpy(pending.bytes.data(), &record, sizeof(record));
  pending.start_offset = start_offset;
  ActivityQueue::Instance().Add(std::move(pending), ready_ns);
}

// Applies the record's fate. False: there will be no record.
template <typename Record>
bool Meet(const Place& place, Record* record, uint64_t* ready_ns) {
  *ready_ns = place.end_ns;
  switch (place.fate) {
    case RecordFate::kMissing: return false;
    case RecordFate::kDropped: ActivityQueue::Instance().CountDropped(1); return false;
    case RecordFate::kZeroTime: record->start = record->end = 0; break;
    case RecordFate::kLate: *ready_ns += kLateNs; break;
    case RecordFate::kNormal: break;
  }
  return true;
}

template <typename Record>
void FillPlace(const Place& place, Record* record) {
  record->start = place.start_ns;
  record->end = place.end_ns;
  record->device_id = place.device;
  record->context_id = place.context;
  record->stream_id = place.stream;
  record->correlation_id = place.correlation;
  record->graph_node_id = place.graph_node;
  record->graph_id = place.graph;
}

// A node's own record is not made while whole graphs are traced.
bool IsHiddenNode(const Place& place) {
  return place.graph_node != 0 &&
         CuptiState::Instance().IsEnabled(kActivityGraphTrace, place.context);
}

void OnKernel(const KernelRun& run) {
  CuptiState& state = CuptiState::Instance();
  const bool concurrent = state.IsEnabled(kActivityConcurrentKernel, run.place.context);
  if (!concurrent && !state.IsEnabled(kActivityKernel, run.place.context)) return;
  if (IsHiddenNode(run.place)) return;
  NewerKernelRecord record{};
  Kernel9Record& base = record.base.base;
  FillPlace(run.place, &base);
  base.kind = concurrent ? kActivityConcurrentKernel : kActivityKernel;
  base.registers_per_thread = run.image->registers_per_thread;
  for (int i = 0; i < 3; ++i) {
    base.grid[i] = static_cast<int32_t>(run.grid[i]);
    base.block[i] = static_cast<int32_t>(run.block[i]);
    base.cluster[i] = run.cluster[i];
  }
  base.static_shared_memory = static_cast<int32_t>(run.image->static_shared_bytes);
  base.dynamic_shared_memory = static_cast<int32_t>(run.dynamic_shared_bytes);
  base.local_memory_per_thread = run.image->local_bytes_per_thread;
  base.grid_id = static_cast<int64_t>(run.grid_id);
  base.name = run.image->name;
  base.launch_type = run.cooperative ? kLaunchCooperative : kLaunchRegular;
  record.base.is_device_launched = run.device_launched ? 1 : 0;
  record.unknown[0] = record.unknown[1] = ~uint64_t{0};
  uint64_t ready_ns = 0;
  if (!Meet(run.place, &base, &ready_ns)) return;
  constexpr size_t kStart = offsetof(Kernel9Record, start);
  if (state.version() >= kFirstNewerVersion) {
    Enqueue(record, kStart, ready_ns);
  } else if (state.version() >= kFirstVersionOfKernel10) {
    Enqueue(record.base, kStart, ready_ns);
  } else {
    Enqueue(base, kStart, ready_ns);
  }
}

void OnCopy(const CopyRun& run) {
  if (!CuptiState::Instance().IsEnabled(kActivityMemcpy, run.place.context) ||
      IsHiddenNode(run.place))
    return;
  MemcpyRecord record{};
  FillPlace(run.place, &record);
  record.kind = kActivityMemcpy;
  record.copy_kind = run.copy_kind;
  record.source_kind = run.source_kind;
  record.destination_kind = run.destination_kind;
  record.flags = run.asynchronous ? 1 : 0;
  record.bytes = run.bytes;
  record.copy_count = 1;
  uint64_t ready_ns = 0;
  if (Meet(run.place, &record, &ready_ns)) {
    Enqueue(record, offsetof(MemcpyRecord, start), ready_ns);
  }
}

void OnSet(const SetRun& run) {
  if (!CuptiState::Instance().IsEnabled(kActivityMemset, run.place.context) ||
      IsHiddenNode(run.place))
    return;
  MemsetRecord record{};
  FillPlace(run.place, &record);
  record.kind = kActivityMemset;
  record.value = run.value;
  record.bytes = run.bytes;
  record.flags = run.asynchronous ? 1 : 0;
  uint64_t ready_ns = 0;
  if (Meet(run.place, &record, &ready_ns)) {
    Enqueue(record, offsetof(MemsetRecord, start), ready_ns);
  }
}

void OnGraph(const Place& place) {
  if (!CuptiState::Instance().IsEnabled(kActivityGraphTrace, place.context)) return;
  GraphTraceRecord record{};
  record.kind = kActivityGraphTrace;
  record.correlation_id = place.correlation;
  record.start = place.start_ns;
  record.end = place.end_ns;
  record.device_id = record.end_device_id = place.device;
  record.context_id = record.end_context_id = place.context;
  record.graph_id = place.graph;
  record.stream_id = place.stream;
  uint64_t ready_ns = 0;
  if (Meet(place, &record, &ready_ns)) {
    Enqueue(record, offsetof(GraphTraceRecord, start), ready_ns);
  }
}

void OnFunctionLoaded(uint32_t context) {
  constexpr uint32_t kLazyFunctionLoading = 5u << 16;
  if (!CuptiState::Instance().IsEnabled(kActivityOverhead, context)) return;
  OverheadRecord record{};
  record.kind = kActivityOverhead;
  record.overhead_kind = kLazyFunctionLoading;
  record.object_kind = kObjectThread;
  record.process_id = static_cast<uint32_t>(getpid());
  record.thread_id = ThreadId();
  record.start = record.end = NowNs();
  Enqueue(record, 0, record.end);
}

bool OnApi(const ApiCall& call) {
  CuptiState& state = CuptiState::Instance();
  static thread_local uint64_t entered_ns = 0;
  if (!call.exit) entered_ns = NowNs();
  const bool called_back = DeliverApiCallback(call);
  if (!call.exit || !state.RecordsDriverCall(call.callback_id)) return called_back;
  ApiRecord record{};
  record.kind = kActivityDriver;
  record.callback_id = call.callback_id;
  record.start = entered_ns;
  record.end = NowNs();
  record.process_id = static_cast<uint32_t>(getpid());
  record.thread_id = ThreadId();
  record.correlation_id = call.correlation;
  record.return_value = static_cast<uint32_t>(*call.result);
  Enqueue(record, 0, record.end);
  return called_back;
}

void OnResource(uint32_t event, CUcontext context, CUstream stream, const void* descriptor) {
  CuptiState& state = CuptiState::Instance();
  DeliverResourceCallback(event, context, stream, descriptor);
  ContextFacts facts{};
  if (event == kContextCreated && state.IsEnabled(kActivityContext) &&
      FindCuda()->describe_context(context, &facts)) {
    ContextRecord record{};
    record.kind = kActivityContext;
    record.context_id = facts.id;
    record.device_id = facts.device;
    record.compute_api_kind = 1;
    record.null_stream_id = static_cast<uint16_t>(facts.null_stream);
    Enqueue(record, 0, NowNs());
  }
  if (event == kStreamCreated && state.IsEnabled(kActivityStream) &&
      FindCuda()->describe_context(context, &facts)) {
    StreamRecord record{};
    record.kind = kActivityStream;
    record.context_id = facts.id;
    record.stream_id = FindCuda()->stream_id(context, stream);
    record.priority = FindCuda()->stream_priority(stream);
    Enqueue(record, 0, NowNs());
  }
}

bool WatchesApi(uint32_t callback_id) {
  CuptiState& state = CuptiState::Instance();
  return state.WantsCallback(kDomainDriver, callback_id) || state.RecordsDriverCall(callback_id);
}

constexpr Observer kObserver = {.watches_api = WatchesApi,
                                .api = OnApi,
                                .resource = OnResource,
                                .synchronized = DeliverSynchronizeCallback,
                                .kernel = OnKernel,
                                .copy = OnCopy,
                                .set = OnSet,
                                .graph = OnGraph,
                                .function_loaded = OnFunctionLoaded};

}  // namespace

CuptiResult ObserveCuda() {
  const CudaLink* cuda = FindCuda();
  if (cuda == nullptr) return kCuptiUnknown;
  if (!cuda->set_observer(&kObserver)) return kCuptiMultipleSubscribers;
  ActivityQueue::Instance().StartWorker();
  return kCuptiSuccess;
}

void RecordMarker(uint32_t flags, uint32_t id, const char* name, const char* domain) {
  if (!CuptiState::Instance().IsEnabled(kActivityMarker)) return;
  MarkerRecord record{};
  record.kind = kActivityMarker;
  record.flags = flags;
  record.timestamp = NowNs();
  record.id = id;
  record.object_kind = kObjectThread;
  record.process_id = static_cast<uint32_t>(getpid());
  record.thread_id = ThreadId();
  record.name = name;
  record.domain = domain;
  Enqueue(record, 0, record.timestamp);
}

}  // namespace utlz::fake
