#include "inject/tracing/launch_callbacks.h"

namespace utlz::agent {
namespace {

void Switch(const CuptiApi& cupti, cupti::Subscriber subscriber, bool on) {
  // An older libcupti does not know all of them.
  for (const uint32_t call : cupti::kDriverLaunchCalls) {
    cupti.enable_callback(on ? 1 : 0, subscriber, cupti::kDomainDriverApi, call);
  }
}

}  // namespace

cupti::Result LaunchCallbacks::On(const CuptiApi& cupti, cupti::Callback callback) {
  if (!subscribed()) {
    cupti::Subscriber subscriber = nullptr;
    const cupti::Result result = cupti.subscribe(&subscriber, callback, nullptr);
    if (result != cupti::kSuccess) return result;
    subscriber_.store(subscriber, std::memory_order_relaxed);
  }
  Switch(cupti, subscriber(), true);
  on_ = true;
  return cupti::kSuccess;
}

void LaunchCallbacks::Silence(const CuptiApi& cupti, uint64_t now_ns) {
  if (!on_) return;
  Switch(cupti, subscriber(), false);
  on_ = false;
  silent_since_ns_ = now_ns;
}

void LaunchCallbacks::Turn(const CuptiApi& cupti, uint64_t now_ns) {
  if (subscribed() && !on_ && now_ns >= silent_since_ns_ + kGraceNs) Off(cupti);
}

void LaunchCallbacks::Off(const CuptiApi& cupti) {
  if (!subscribed()) return;
  if (on_) Switch(cupti, subscriber(), false);
  on_ = false;
  cupti.unsubscribe(subscriber());
  subscriber_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace utlz::agent
