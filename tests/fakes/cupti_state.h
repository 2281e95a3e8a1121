// The fake libcupti's process-wide state: its version, its subscriber and what is switched on.
#ifndef UTLZ_TESTS_FAKES_CUPTI_STATE_H_
#define UTLZ_TESTS_FAKES_CUPTI_STATE_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "tests/fakes/cupti_records.h"
#include "tests/fakes/cupti_results.h"

namespace utlz::fake {

inline constexpr uint32_t kCallbackDomains = 8;
inline constexpr uint32_t kCallbacksPerDomain = 1024;
inline constexpr uint32_t kDomainDriver = 1;
inline constexpr uint32_t kDomainResource = 3;
inline constexpr uint32_t kDomainSynchronize = 4;

using CuptiCallback = void (*)(void* user, uint32_t domain, uint32_t callback_id,
                               const void* data);

struct Subscriber {
  CuptiCallback callback;
  void* user;
};

class CuptiState {
 public:
  static CuptiState& Instance();

  uint32_t version() const { return version_; }
  // For the process as a whole.
  bool IsEnabled(ActivityKind kind) const { return kinds_[kind].load(std::memory_order_relaxed); }
  bool IsEnabled(ActivityKind kind, uint32_t context) const;
  // As CUPTI 13.0 does it: for all contexts, whatever was said of one before.
  void Enable(uint32_t kind, bool enabled);
  void EnableInContext(uint32_t context, uint32_t kind, bool enabled);
  // How many kinds are on for single contexts.
  uint32_t EnabledInContexts() const;

  // Driver calls that are recorded: of a kind as a whole, or chosen one by one. As with CUPTI 13.0
  // and 12.8, a choice that is first made where there is a context already has no effect before the
  // kind as a whole is on, and none has after that went off.
  void RecordDriverCall(uint32_t callback_id, bool enabled);
  bool RecordsDriverCall(uint32_t callback_id) const;
  uint32_t RecordedDriverCalls() const;

  const Subscriber* subscriber() const { return subscriber_.load(); }
  bool Subscribe(const Subscriber* subscriber);
  void Unsubscribe();
  void EnableCallback(uint32_t domain, uint32_t callback_id, bool enabled);
  bool WantsCallback(uint32_t domain, uint32_t callback_id) const;

  // cuptiFinalize, which no other call may meet.
  void BeginTearDown() { torn_down_by_.store(pthread_self()); }
  void EndTearDown() {
    ever_recorded_ = ever_subscribed_ = false;
    torn_down_by_.store(0);
  }
  bool BeingTornDown() const {
    const pthread_t thread = torn_down_by_.load();
    return thread != 0 && thread != pthread_self();
  }

  std::atomic<bool> thread_ids_are_kernel{false};

 private:
  CuptiState();

  std::atomic<pthread_t> torn_down_by_{0};
  uint32_t version_;
  std::atomic<bool> kinds_[kActivityKinds] = {};
  mutable std::mutex exceptions_mutex_;
  std::map<std::pair<uint32_t, uint32_t>, bool> exceptions_;  // by context and kind
  std::atomic<bool> driver_calls_[kCallbacksPerDomain] = {};
  std::atomic<bool> driver_calls_armed_{false};
  std::atomic<const Subscriber*> subscriber_{nullptr};
  std::atomic<bool> ever_recorded_{false};
  std::atomic<bool> ever_subscribed_{false};
  std::atomic<bool> callbacks_[kCallbackDomains][kCallbacksPerDomain] = {};
};

// Of this process, started or not.
uint32_t RangeProfilersEnabled();

// The library behind the profilers, which CUPTI loads when it first needs it, is torn down at exit
// before whatever was registered to run there earlier. Loaded, and no use after that.
void UseProfilerLibrary();
// Some of it is made only when it is first needed, and torn down before what was registered until
// then, in the middle of a call perhaps.
void MakeMoreOfProfilerLibrary();

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_CUPTI_STATE_H_
