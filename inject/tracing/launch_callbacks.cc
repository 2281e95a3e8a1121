#include "inject/tracing/launch_callbacks.h"

namespace utlz::agent {
namespace {

struct SwitchLaunches {
  const CuptiApi& cupti;
  cupti::Subscriber subscriber;

  void operator()(bool on) const {
    // An older libcupti does not know all of them.
    for (const uint32_t call : cupti::kDriverLaunchCalls) {
      cupti.enable_callback(on ? 1 : 0, subscriber, cupti::kDomainDriverApi, call);
    }
  }
};

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
  // A thread that was slow to switch them off may have asked again after their subscription ended.
  if (!subscribed()) exits_.Forget();
  const cupti::Result result = Subscribe(cupti, callback);
  if (result != cupti::kSuccess) return result;
  if (!StayOn()) {
    if (!exits_.off()) return cupti::kErrorHardwareBusy;
    exits_.Begin();
    SwitchLaunches{cupti, subscriber()}(true);
  }
  on_.store(true, std::memory_order_relaxed);
  return cupti::kSuccess;
}

bool LaunchCallbacks::StayOn() {
  return exits_.TakeBack() || (!exits_.WaitUntilOff(kPatienceNs) && exits_.TakeBack());
}

void LaunchCallbacks::Left(const CuptiApi& cupti, const cupti::CallbackData& call) {
  exits_.Left(call.correlation_data, SwitchLaunches{cupti, subscriber()});
}

void LaunchCallbacks::Silence(const CuptiApi& cupti, uint64_t now_ns) {
  if (!on()) return;
  on_.store(false, std::memory_order_relaxed);
  calls_seen_ = exits_.calls();
  asked_ns_ = idle_since_ns_ = silent_since_ns_ = now_ns;
  exits_.Ask();
  exits_.WaitUntilOff(kPatienceNs);
}

void LaunchCallbacks::FollowExits(const CuptiApi& cupti, uint64_t now_ns) {
  if (!exits_.asked()) return;
  silent_since_ns_ = now_ns;
  const uint64_t calls = exits_.calls();
  if (exits_.inside() || calls != calls_seen_) idle_since_ns_ = now_ns;
  calls_seen_ = calls;
  const bool due = now_ns >= idle_since_ns_ + kGraceNs || now_ns >= asked_ns_ + kMostLaunchNs;
  if (due) exits_.SwitchOff(SwitchLaunches{cupti, subscriber()});
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
  if (on() || !subscribed()) return;
  FollowExits(cupti, now_ns);
  if (!exits_.off() || nodes_on_) return;
  if (now_ns >= silent_since_ns_ + kGraceNs) Off(cupti);
}

void LaunchCallbacks::Off(const CuptiApi& cupti) {
  if (!subscribed()) return;
  on_.store(false, std::memory_order_relaxed);
  exits_.End(kPatienceNs, SwitchLaunches{cupti, subscriber()});
  if (nodes_on_) SwitchNodes(cupti, subscriber(), false);
  nodes_on_ = false;
  cupti.unsubscribe(subscriber());
  subscriber_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace utlz::agent
