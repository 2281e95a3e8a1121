// Streams, events, waiting, and the virtual timeline of each stream.
#include <algorithm>
#include <cerrno>
#include <ctime>

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/driver_state.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"
#include "tests/fakes/visible_devices.h"

namespace utlz::fake {
namespace {

constexpr uint64_t kLaunchLatencyNs = 2000;

bool IsInstant() {
  static const bool instant = ScenarioNumber("instant", 0) != 0;
  return instant;
}

Event* FromHandle(CUevent event) { return reinterpret_cast<Event*>(event); }

}  // namespace

Interval Schedule(Stream* stream, uint64_t duration_ns) {
  const uint64_t earliest = NowNs() + kLaunchLatencyNs;
  uint64_t tail = stream->tail_ns.load();
  uint64_t start = 0;
  do {
    start = std::max(earliest, tail);
  } while (!stream->tail_ns.compare_exchange_weak(tail, start + duration_ns));
  return {start, start + duration_ns};
}

Interval ScheduleTogether(Stream* stream, uint64_t duration_ns, uint32_t ranks) {
  const uint64_t start = std::max(NowNs() + kLaunchLatencyNs, stream->tail_ns.load());
  const uint32_t device = PhysicalDevice(static_cast<uint32_t>(stream->context->device));
  const uint64_t end = SimulatedGpu::Instance().MeetOthers(device, ranks, start) + duration_ns;
  stream->tail_ns.store(end);
  return {start, end};
}

void WaitUntil(uint64_t time_ns) {
  if (IsInstant() || time_ns <= NowNs()) return;
  const timespec until = {static_cast<time_t>(time_ns / 1'000'000'000u),
                          static_cast<long>(time_ns % 1'000'000'000u)};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallStreamCreateWithPriority, "cuStreamCreateWithPriority", nullptr);
  Context* context = CurrentContext();
  if (context == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  DriverState& state = DriverState::Instance();
  Stream* made = new Stream;
  made->context = context;
  made->id = state.next_stream_id.fetch_add(1);
  made->priority = priority;
  {
    const std::lock_guard lock(state.mutex);
    context->streams.insert(made);
  }
  *stream = ToHandle(made);
  NotifyResource(kStreamCreated, context, made, nullptr);
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallStreamDestroy, "cuStreamDestroy_v2", &handle);
  Stream* stream = reinterpret_cast<Stream*>(handle);
  WaitUntil(stream->tail_ns.load());
  NotifyResource(kStreamDestroyStarting, stream->context, stream, nullptr);
  DriverState& state = DriverState::Instance();
  const std::lock_guard lock(state.mutex);
  stream->context->streams.erase(stream);
  delete stream;
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallStreamSynchronize, "cuStreamSynchronize", &handle);
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  WaitUntil(stream->tail_ns.load());
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer != nullptr) {
    observer->synchronized(kStreamSynchronized, ToHandle(stream->context), handle);
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream handle) {
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return IsInstant() || stream->tail_ns.load() <= NowNs() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags) {
  ApiScope scope(kCallStreamWaitEvent, "cuStreamWaitEvent", &handle);
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  uint64_t tail = stream->tail_ns.load();
  const uint64_t until = FromHandle(event)->time_ns;
  while (tail < until && !stream->tail_ns.compare_exchange_weak(tail, until)) {
  }
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  delete FromHandle(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  ApiScope scope(kCallEventRecord, "cuEventRecord", nullptr);
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  FromHandle(event)->time_ns = std::max(NowNs(), stream->tail_ns.load());
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
  ApiScope scope(kCallEventSynchronize, "cuEventSynchronize", &event);
  WaitUntil(FromHandle(event)->time_ns);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  return IsInstant() || FromHandle(event)->time_ns <= NowNs() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  const int64_t elapsed_ns =
      static_cast<int64_t>(FromHandle(end)->time_ns - FromHandle(start)->time_ns);
  *milliseconds = static_cast<float>(elapsed_ns) * 1e-6f;
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  ApiScope scope(kCallLaunchHostFunc, "cuLaunchHostFunc", &handle);
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  WaitUntil(stream->tail_ns.load());
  function(user_data);
  return CUDA_SUCCESS;
}

}  // extern "C"
}  // namespace utlz::fake
