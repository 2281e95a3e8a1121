#include "inject/tracing/other_client.h"

#include <atomic>

#include "inject/base/clock.h"
#include "inject/base/timed_lock.h"
#include "inject/tracing/import_slot.h"

namespace utlz::agent {
namespace {

// Plain functions stand in the client's slots, so what they need cannot be passed to them.
std::atomic<decltype(CuptiApi::activity_disable)> real_disable{nullptr};
std::atomic<decltype(CuptiApi::activity_enable)> real_enable{nullptr};
std::atomic<decltype(CuptiApi::finalize)> real_finalize{nullptr};
std::atomic<decltype(CuptiApi::subscribe)> real_subscribe{nullptr};
std::atomic<decltype(CuptiApi::subscribe_v2)> real_subscribe_v2{nullptr};
std::atomic<decltype(CuptiApi::activity_register_callbacks)> real_register{nullptr};
std::atomic<OtherClient::GiveWay> give_way{nullptr};
std::atomic<OtherClient::GiveWay> empty_buffers{nullptr};
std::atomic<pthread_mutex_t*> our_turn{nullptr};
std::atomic<uint64_t> done_at_ns{0};  // monotonic; 0 = kernel records are on
std::atomic<bool> torn_down{false};

cupti::Result ObserveDisable(uint32_t kind) {
  const cupti::Result result = real_disable.load(std::memory_order_relaxed)(kind);
  if (kind == cupti::kKindConcurrentKernel) done_at_ns.store(MonotonicNs());
  return result;
}

cupti::Result ObserveEnable(uint32_t kind) {
  if (kind == cupti::kKindConcurrentKernel) done_at_ns.store(0);
  return real_enable.load(std::memory_order_relaxed)(kind);
}

// Longer than any call of ours takes; a program must never hang on it.
constexpr uint64_t kPatienceNs = 1000000000;

void GiveWayToSubscriber() {
  const OtherClient::GiveWay give = give_way.load();
  if (give == nullptr) return;
  pthread_mutex_t* const turn = our_turn.load();
  if (!LockWithin(turn, kPatienceNs)) return;
  give();
  pthread_mutex_unlock(turn);
}

cupti::Result ObserveSubscribe(cupti::Subscriber* subscriber, cupti::Callback callback,
                               void* user) {
  GiveWayToSubscriber();
  return real_subscribe.load(std::memory_order_relaxed)(subscriber, callback, user);
}

cupti::Result ObserveSubscribe2(cupti::Subscriber* subscriber, cupti::Callback callback, void* user,
                                void* parameters) {
  GiveWayToSubscriber();
  return real_subscribe_v2.load(std::memory_order_relaxed)(subscriber, callback, user, parameters);
}

// CUPTI goes on filling the buffer that it has, whoever gave it, and the other client knows nothing
// of ours: they come back to us first.
cupti::Result ObserveRegister(cupti::BufferRequested requested, cupti::BufferCompleted completed) {
  const OtherClient::GiveWay empty = empty_buffers.load();
  pthread_mutex_t* const turn = our_turn.load();
  const bool locked = empty != nullptr && LockWithin(turn, kPatienceNs);
  if (locked) empty();
  const cupti::Result result =
      real_register.load(std::memory_order_relaxed)(requested, completed);
  if (locked) pthread_mutex_unlock(turn);
  return result;
}

cupti::Result ObserveFinalize() {
  pthread_mutex_t* const turn = our_turn.load();
  const bool locked = LockWithin(turn, kPatienceNs);
  const cupti::Result result = real_finalize.load(std::memory_order_relaxed)();
  torn_down.store(true);
  done_at_ns.store(MonotonicNs());
  if (locked) pthread_mutex_unlock(turn);
  return result;
}

// Whether the module's calls have gone to the observer for longer already.
template <typename Function>
bool Redirect(uintptr_t module, const char* name, Function function) {
  void** const slot = FindImportSlot(module, name);
  if (slot == nullptr) return false;
  void* const observer = reinterpret_cast<void*>(function);
  if (std::atomic_ref<void*>(*slot).load() == observer) return true;
  SetImportSlot(slot, observer);
  return false;
}

// Whether the module's calls of cuptiActivityDisable have gone to the observer for longer already.
bool RedirectImports(const CuptiApi& api, uintptr_t module) {
  Redirect(module, "cuptiActivityEnable", ObserveEnable);
  Redirect(module, "cuptiActivityRegisterCallbacks", ObserveRegister);
  Redirect(module, "cuptiSubscribe", ObserveSubscribe);
  if (api.subscribe_v2 != nullptr) Redirect(module, "cuptiSubscribe_v2", ObserveSubscribe2);
  if (api.finalize != nullptr) Redirect(module, "cuptiFinalize", ObserveFinalize);
  return Redirect(module, "cuptiActivityDisable", ObserveDisable);
}

template <typename Function>
void RedirectStored(uintptr_t module, Function real, Function observer) {
  ReplaceStoredPointers(module, reinterpret_cast<void*>(real), reinterpret_cast<void*>(observer));
}

void UseReal(const CuptiApi& api, pthread_mutex_t* turn_mutex) {
  real_disable.store(api.activity_disable);
  real_enable.store(api.activity_enable);
  real_register.store(api.activity_register_callbacks);
  real_finalize.store(api.finalize);
  real_subscribe.store(api.subscribe);
  real_subscribe_v2.store(api.subscribe_v2);
  our_turn.store(turn_mutex);
}

}  // namespace

void OtherClient::OnSubscription(GiveWay give) { give_way.store(give); }
void OtherClient::OnRegistration(GiveWay empty) { empty_buffers.store(empty); }

void OtherClient::WatchImporters(const CuptiApi& api, pthread_mutex_t* turn_mutex) {
  constexpr uint32_t kMostModules = 64;
  const uint64_t modules = ModulesEverLoaded();
  if (modules == modules_seen_) return;
  modules_seen_ = modules;
  UseReal(api, turn_mutex);
  uintptr_t importers[kMostModules];
  const uint32_t count = FindDependents("libcupti.so", importers, kMostModules);
  for (uint32_t i = 0; i < count; ++i) RedirectImports(api, importers[i]);
}

void OtherClient::Watch(const CuptiApi& api, uintptr_t code_address, pthread_mutex_t* turn_mutex) {
  if (code_address == 0) return;
  UseReal(api, turn_mutex);
  // What a module that is watched already has done since it took over is known.
  if (!RedirectImports(api, code_address)) done_at_ns.store(0);
  RedirectStored(code_address, api.activity_enable, ObserveEnable);
  RedirectStored(code_address, api.activity_disable, ObserveDisable);
  RedirectStored(code_address, api.activity_register_callbacks, ObserveRegister);
  if (api.finalize != nullptr) RedirectStored(code_address, api.finalize, ObserveFinalize);
}

void OtherClient::Forget() { done_at_ns.store(0); }

bool OtherClient::DoneFor(uint64_t now_monotonic_ns, uint64_t quiet_ns) const {
  const uint64_t at_ns = done_at_ns.load();
  return at_ns != 0 && now_monotonic_ns > at_ns + quiet_ns;
}

bool OtherClient::TornDown() const { return torn_down.load(); }

bool OtherClient::TakeTornDown() { return torn_down.exchange(false); }

}  // namespace utlz::agent
