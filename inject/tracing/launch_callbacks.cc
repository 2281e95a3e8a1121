#include "inject/tracing/launch_callbacks.h"

namespace utlz::agent {
namespace {

void Switch(const CuptiApi& cupti, cupti::Subscriber subscriber, bool on) {
  // An older libcupti does not know all of them.
  for (const uint32_t call : cupti::kDriverLaunchCalls) {
    cupti.enable_callback(on ? 1 : 0, subscriber, cupti::kDomainDriverApi, call);
  }
}

cupti::Result SwitchNodes(const CuptiApi& cupti, cupti::Subscriber subscriber, bool on) {
  cupti::Result result = cupti::kSuccess;
  for (const uint32_t event : {cupti::kGraphNodeCreated, cupti::kGraphNodeCloned}) {
    const cupti::Result one =
        cupti.enable_callback(on ? 1 : 0, subscriber, cupti::kDomainResource, event);
    if (one != cupti::kSuccess) result = one;
  }
  return result;
}

}  // namespace

cupti::Result LaunchCallbacks::Subscribe(const CuptiApi& cupti, cupti::Callback callback) {
  if (subscribed()) return cupti::kSuccess;
  cupti::Subscriber subscriber = nullptr;
  const cupti::Result result = cupti.subscribe(&subscriber, callback, nullptr);
  if (result == cupti::kSuccess) subscriber_.store(subscriber, std::memory_order_relaxed);
  return result;
}

cupti::Result LaunchCallbacks::On(const CuptiApi& cupti, cupti::Callback callback) {
  const cupti::Result result = Subscribe(cupti, callback);
  if (result != cupti::kSuccess) return result;
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

cupti::Result LaunchCallbacks::NodesOn(const CuptiApi& cupti, cupti::Callback callback) {
  if (nodes_on_) return cupti::kSuccess;
  cupti::Result result = Subscribe(cupti, callback);
  if (result != cupti::kSuccess) return result;
  nodes_on_ = true;
  return SwitchNodes(cupti, subscriber(), true);
}

void LaunchCallbacks::SilenceNodes(const CuptiApi& cupti, uint64_t now_ns) {
  if (!nodes_on_) return;
  SwitchNodes(cupti, subscriber(), false);
  nodes_on_ = false;
  silent_since_ns_ = now_ns;
}

void LaunchCallbacks::Turn(const CuptiApi& cupti, uint64_t now_ns) {
  if (on_ || nodes_on_ || !subscribed()) return;
  if (now_ns >= silent_since_ns_ + kGraceNs) Off(cupti);
}

void LaunchCallbacks::Off(const CuptiApi& cupti) {
  if (!subscribed()) return;
  if (on_) Switch(cupti, subscriber(), false);
  if (nodes_on_) SwitchNodes(cupti, subscriber(), false);
  on_ = nodes_on_ = false;
  cupti.unsubscribe(subscriber());
  subscriber_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace utlz::agent
