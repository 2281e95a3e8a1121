// Contexts: created, primary, current, destroyed.
#include <algorithm>
#include <cstddef>
#include <iterator>

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/driver_state.h"
#include "tests/fakes/visible_devices.h"

namespace utlz::fake {
namespace {

// Without a destructor: a profiler's way out calls the driver after those of the thread's
// variables.
class ContextStack {
 public:
  bool empty() const { return count_ == 0; }
  Context* back() const { return contexts_[count_ - 1]; }
  // False where there is no room for it.
  bool Push(Context* context) {
    if (count_ == std::size(contexts_)) return false;
    contexts_[count_++] = context;
    return true;
  }
  void pop_back() { --count_; }
  void Erase(const Context* context) {
    count_ = static_cast<size_t>(std::remove(contexts_, contexts_ + count_, context) - contexts_);
  }

 private:
  Context* contexts_[1024];
  size_t count_;
};

thread_local constinit ContextStack current_contexts{};
thread_local int thread_capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

Context* MakeContext(CUdevice device, bool primary) {
  DriverState& state = DriverState::Instance();
  Context* context = new Context;
  context->id = state.next_context_id.fetch_add(1);
  context->device = device;
  context->primary = primary;
  context->null_stream.context = context;
  context->null_stream.id = state.next_stream_id.fetch_add(1);
  context->null_stream.priority = 0;
  {
    const std::lock_guard lock(state.mutex);
    state.contexts.insert(context);
    if (primary) state.primary_contexts[device] = context;
  }
  return context;
}

void Destroy(Context* context) {
  DriverState& state = DriverState::Instance();
  FakeCudaDrainContext(ToHandle(context));
  NotifyResource(kContextDestroyStarting, context, nullptr, nullptr);
  const std::lock_guard lock(state.mutex);
  state.contexts.erase(context);
  if (context->primary) state.primary_contexts.erase(context->device);
  for (Stream* stream : context->streams) delete stream;
  current_contexts.Erase(context);
  delete context;
}

}  // namespace

Captures& Captures::Instance() {
  static Captures captures;
  return captures;
}

void NoteUnsafeCall() {
  Captures& captures = Captures::Instance();
  if (captures.open > 0 && thread_capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
    captures.invalidated = true;
  }
}

Context* CurrentContext() { return current_contexts.empty() ? nullptr : current_contexts.back(); }

extern "C" {

CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallCtxCreate, "cuCtxCreate_v2", nullptr);
  if (device < 0 || static_cast<uint64_t>(device) >= VisibleDeviceCount()) {
    return scope.Return(CUDA_ERROR_INVALID_DEVICE);
  }
  Context* made = MakeContext(device, false);
  if (!current_contexts.Push(made)) return CUDA_ERROR_OUT_OF_MEMORY;
  *context = ToHandle(made);
  NotifyResource(kContextCreated, made, nullptr, nullptr);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v4(CUcontext* context, void* params, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallCtxDestroy, "cuCtxDestroy_v2", &context);
  Destroy(FromHandle(context));
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  NoteUnsafeCall();
  ApiScope scope(kCallPrimaryCtxRetain, "cuDevicePrimaryCtxRetain", nullptr);
  DriverState& state = DriverState::Instance();
  Context* primary = nullptr;
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.primary_contexts.find(device);
    if (found != state.primary_contexts.end()) primary = found->second;
  }
  const bool is_new = primary == nullptr;
  if (is_new) primary = MakeContext(device, true);
  ++primary->primary_uses;
  *context = ToHandle(primary);
  if (is_new) NotifyResource(kContextCreated, primary, nullptr, nullptr);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallPrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", &device);
  DriverState& state = DriverState::Instance();
  Context* primary = nullptr;
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.primary_contexts.find(device);
    if (found == state.primary_contexts.end()) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
    primary = found->second;
  }
  if (--primary->primary_uses == 0) Destroy(primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  DriverState& state = DriverState::Instance();
  const std::lock_guard lock(state.mutex);
  *flags = 0;
  *active = state.primary_contexts.contains(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(thread_capture_mode, *mode);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = ToHandle(CurrentContext());
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (!current_contexts.empty()) current_contexts.pop_back();
  if (context != nullptr) current_contexts.Push(FromHandle(context));
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return current_contexts.Push(FromHandle(context)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (current_contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = ToHandle(current_contexts.back());
  current_contexts.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  NoteUnsafeCall();
  ApiScope scope(kCallCtxSynchronize, "cuCtxSynchronize", nullptr);
  Context* context = CurrentContext();
  if (context == nullptr) return scope.Return(CUDA_ERROR_INVALID_CONTEXT);
  FakeCudaDrainContext(ToHandle(context));
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer != nullptr) {
    observer->synchronized(kContextSynchronized, ToHandle(context), nullptr);
  }
  return CUDA_SUCCESS;
}

}  // extern "C"
}  // namespace utlz::fake
