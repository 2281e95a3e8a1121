#include "inject/tracing/subscription.h"

#include <atomic>

namespace utlz::agent {
namespace {

void NoteNumber(void* user, uint32_t domain, uint32_t callback_id, const void* data) {
  if (domain != cupti::kDomainDriverApi || callback_id != cupti::kDriverCallDeviceGetCount) return;
  static_cast<std::atomic<uint32_t>*>(user)->store(
      static_cast<const cupti::CallbackData*>(data)->correlation_id, std::memory_order_relaxed);
}

void Ignore(void*, uint32_t, uint32_t, const void*) {}

}  // namespace

bool PrepareSubscriptions(const CuptiApi& cupti) {
  cupti::Subscriber subscriber = nullptr;
  if (cupti.subscribe(&subscriber, Ignore, nullptr) != cupti::kSuccess) return false;
  cupti.unsubscribe(subscriber);
  return true;
}

uint32_t NumberOfOwnCall(const CuptiApi& cupti, const CudaApi& cuda) {
  // Static: a callback on another thread may still be on its way when the subscription ends.
  static std::atomic<uint32_t> number{0};
  if (cuda.device_get_count == nullptr) return 0;
  cupti::Subscriber subscriber = nullptr;
  if (cupti.subscribe(&subscriber, NoteNumber, &number) != cupti::kSuccess) return 0;
  cupti.enable_callback(1, subscriber, cupti::kDomainDriverApi, cupti::kDriverCallDeviceGetCount);
  int count = 0;
  cuda.device_get_count(&count);
  cupti.enable_callback(0, subscriber, cupti::kDomainDriverApi, cupti::kDriverCallDeviceGetCount);
  cupti.unsubscribe(subscriber);
  return number.load(std::memory_order_relaxed);
}

}  // namespace utlz::agent
