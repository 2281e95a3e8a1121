#include "tests/fakes/driver_state.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {
namespace {

thread_local CUresult arranged_failure = CUDA_SUCCESS;
thread_local RecordFate record_fate = RecordFate::kNormal;

}  // namespace

DriverState& DriverState::Instance() {
  static DriverState* const state = new DriverState;
  return *state;
}

bool Ready() { return DriverState::Instance().initialized_pid.load() == getpid(); }

Context* FromHandle(CUcontext handle) { return reinterpret_cast<Context*>(handle); }
CUcontext ToHandle(Context* context) { return reinterpret_cast<CUcontext>(context); }
CUstream ToHandle(Stream* stream) { return reinterpret_cast<CUstream>(stream); }

Stream* FindStream(CUstream handle) {
  Context* context = CurrentContext();
  const uintptr_t number = reinterpret_cast<uintptr_t>(handle);
  if (number > 2) return reinterpret_cast<Stream*>(handle);
  return context == nullptr ? nullptr : &context->null_stream;
}

// As CUPTI was seen to: a thread that is in a call when its callbacks go off keeps the call's
// number for all calls from then on.
thread_local uint32_t ApiScope::kept_number_ = 0;

bool ApiScope::MustKeepNumber() {
  static const uint64_t limit = ScenarioNumber("kept_numbers_after", UINT64_MAX);
  return DriverState::Instance().next_correlation.load() > limit && syscall(SYS_gettid) != getpid();
}

// Launching calls that last: other threads then do much while one is in such a call.
void ApiScope::TakeItsTime() const {
  static const uint64_t launch_us = ScenarioNumber("launch_us", 0);
  if (launch_us != 0 && called_back_) usleep(static_cast<useconds_t>(launch_us));
}

ApiScope::ApiScope(uint32_t callback_id, const char* name, const void* params) {
  Context* context = CurrentContext();
  call_.exit = false;
  call_.callback_id = callback_id;
  call_.name = name;
  call_.params = params;
  call_.result = &result_;
  call_.context = ToHandle(context);
  call_.context_id = context == nullptr ? 0 : context->id;
  call_.correlation_data = &correlation_data_;
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer == nullptr) return;
  if (observer->watches_api(callback_id)) correlation();
  called_back_ = observer->api(call_);
}

uint32_t ApiScope::correlation() {
  if (call_.correlation == 0) {
    call_.correlation =
        kept_number_ != 0 ? kept_number_ : DriverState::Instance().next_correlation.fetch_add(1);
  }
  return call_.correlation;
}

ApiScope::~ApiScope() {
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer == nullptr) return;
  Context* context = CurrentContext();
  call_.exit = true;
  call_.context = ToHandle(context);
  call_.context_id = context == nullptr ? 0 : context->id;
  TakeItsTime();
  const bool called_back = observer->api(call_);
  if (called_back_ && (!called_back || MustKeepNumber())) kept_number_ = call_.correlation;
}

void NotifyResource(uint32_t callback_id, Context* context, Stream* stream,
                    const void* descriptor) {
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer == nullptr) return;
  observer->resource(callback_id, ToHandle(context), ToHandle(stream), descriptor);
}

CUresult TakeArrangedFailure() {
  const CUresult failure = arranged_failure;
  arranged_failure = CUDA_SUCCESS;
  return failure;
}

RecordFate CurrentFate() { return record_fate; }

extern "C" {

void FakeCudaSetRecordFate(RecordFate fate) { record_fate = fate; }

void FakeCudaFailNextCall(int result) { arranged_failure = static_cast<CUresult>(result); }

uint64_t FakeCudaWorkCount() { return SimulatedGpu::Instance().count(); }

bool FakeCudaSetObserver(const Observer* observer) {
  const Observer* nobody = nullptr;
  return DriverState::Instance().observer.compare_exchange_strong(nobody, observer) ||
         nobody == observer;
}

bool FakeCudaDescribeContext(CUcontext handle, ContextFacts* facts) {
  DriverState& state = DriverState::Instance();
  Context* context = handle == nullptr ? CurrentContext() : FromHandle(handle);
  const std::lock_guard lock(state.mutex);
  if (state.contexts.count(context) == 0) return false;
  *facts = {context->id, static_cast<uint32_t>(context->device), context->null_stream.id};
  return true;
}

uint32_t FakeCudaStreamId(CUcontext context, CUstream stream) {
  if (reinterpret_cast<uintptr_t>(stream) > 2) return reinterpret_cast<Stream*>(stream)->id;
  Context* owner = context == nullptr ? CurrentContext() : FromHandle(context);
  return owner == nullptr ? 0 : owner->null_stream.id;
}

uint32_t FakeCudaStreamPriority(CUstream stream) {
  return static_cast<uint32_t>(reinterpret_cast<Stream*>(stream)->priority);
}

void FakeCudaDrainContext(CUcontext handle) {
  DriverState& state = DriverState::Instance();
  Context* context = FromHandle(handle);
  uint64_t last_ns = context->null_stream.tail_ns.load();
  {
    const std::lock_guard lock(state.mutex);
    for (Stream* stream : context->streams) {
      last_ns = std::max(last_ns, stream->tail_ns.load());
    }
  }
  WaitUntil(last_ns);
}

int FakeCudaInitializedPid() { return DriverState::Instance().initialized_pid.load(); }

bool FakeCudaHasContext() {
  DriverState& state = DriverState::Instance();
  const std::lock_guard lock(state.mutex);
  return !state.contexts.empty();
}

}  // extern "C"

}  // namespace utlz::fake
