#include "tests/fakes/cupti_state.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

#include "tests/fakes/cuda_link.h"
#include "tests/fakes/misuse.h"
#include "tests/fakes/scenario.h"

namespace utlz::fake {
namespace {

// The name of the folder that this copy was loaded from.
std::string OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  return std::filesystem::path(info.dli_fname).parent_path().filename().string();
}

uint32_t ArrangedVersion() {
  const uint64_t of_all = ScenarioNumber("cupti_version", 130000);
  return static_cast<uint32_t>(ScenarioNumber("cupti_version@" + OwnFolder(), of_all));
}

}  // namespace

CuptiState& CuptiState::Instance() {
  static CuptiState* const state = new CuptiState;
  return *state;
}

CuptiState::CuptiState() : version_(ArrangedVersion()) {}

bool CuptiState::IsEnabled(ActivityKind kind, uint32_t context) const {
  const std::lock_guard lock(exceptions_mutex_);
  const auto exception = exceptions_.find({context, kind});
  return exception == exceptions_.end() ? IsEnabled(kind) : exception->second;
}

void CuptiState::EnableInContext(uint32_t context, uint32_t kind, bool enabled) {
  const std::lock_guard lock(exceptions_mutex_);
  exceptions_[{context, kind}] = enabled;
  if (enabled) ever_recorded_ = true;
}

uint32_t CuptiState::EnabledInContexts() const {
  const std::lock_guard lock(exceptions_mutex_);
  uint32_t count = 0;
  for (const auto& [place, enabled] : exceptions_) count += enabled ? 1 : 0;
  return count;
}

void CuptiState::Enable(uint32_t kind, bool enabled) {
  {
    const std::lock_guard lock(exceptions_mutex_);
    std::erase_if(exceptions_, [kind](const auto& entry) { return entry.first.second == kind; });
  }
  kinds_[kind].store(enabled);
  if (enabled) ever_recorded_ = true;
  if (kind != kActivityDriver) return;
  for (std::atomic<bool>& call : driver_calls_) call.store(enabled);
  driver_calls_armed_ = enabled;
}

void CuptiState::RecordDriverCall(uint32_t callback_id, bool enabled) {
  if (callback_id < kCallbacksPerDomain) driver_calls_[callback_id].store(enabled);
  const CudaLink* cuda = FindCuda();
  if (enabled && (cuda == nullptr || !cuda->has_context())) driver_calls_armed_ = true;
}

bool CuptiState::RecordsDriverCall(uint32_t callback_id) const {
  return driver_calls_armed_.load(std::memory_order_relaxed) && callback_id < kCallbacksPerDomain &&
         driver_calls_[callback_id].load(std::memory_order_relaxed);
}

uint32_t CuptiState::RecordedDriverCalls() const {
  return static_cast<uint32_t>(
      std::count_if(std::begin(driver_calls_), std::end(driver_calls_),
                    [](const std::atomic<bool>& recorded) { return recorded.load(); }));
}

bool CuptiState::Subscribe(const Subscriber* subscriber) {
  // On the device a thread that launches at that moment crashes in it.
  if (!ever_subscribed_.exchange(true) && ever_recorded_) {
    Misuse("the first subscription comes after records were switched on");
  }
  const Subscriber* nobody = nullptr;
  return subscriber_.compare_exchange_strong(nobody, subscriber);
}

void CuptiState::Unsubscribe() {
  subscriber_.store(nullptr);
  for (auto& domain : callbacks_) {
    for (std::atomic<bool>& callback : domain) callback.store(false);
  }
}

void CuptiState::EnableCallback(uint32_t domain, uint32_t callback_id, bool enabled) {
  callbacks_[domain][callback_id].store(enabled);
}

bool CuptiState::WantsCallback(uint32_t domain, uint32_t callback_id) const {
  return callback_id < kCallbacksPerDomain &&
         callbacks_[domain][callback_id].load(std::memory_order_relaxed);
}

CuptiResult ArrangedResult(const char* function) {
  return static_cast<CuptiResult>(ScenarioNumber(std::string("fail.") + function, 0));
}

}  // namespace utlz::fake
