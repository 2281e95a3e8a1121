// CUPTI's callbacks of the driver's launching calls, in trace windows alone, and of nodes of CUDA
// graphs, while some are captured. CUPTI has one subscription, which both share and other clients
// want (docs/decisions/0022-stacks-are-read-in-callbacks-of-windows.md).
//
// Callbacks of launches go off when no thread is in a launching call (last_exit.h).
//
// Entered, Left, on and subscribed on any thread. The others one at a time: on the agent's thread,
// on one that captures, or on a client's that has us give way.
#ifndef UTLZ_INJECT_TRACING_LAUNCH_CALLBACKS_H_
#define UTLZ_INJECT_TRACING_LAUNCH_CALLBACKS_H_

#include <atomic>
#include <cstdint>

#include "inject/base/last_exit.h"
#include "inject/driver/cupti_api.h"

namespace utlz::agent {

class LaunchCallbacks {
 public:
  // A subscription outlives its callbacks by this long: launches that are under way when they are
  // switched off are out of CUPTI's hands by then. A program that launches nothing for as long has
  // its callbacks switched off by us.
  static constexpr uint64_t kGraceNs = 20'000'000;
  // Where threads are in launching calls for longer than this, callbacks go off all the same.
  static constexpr uint64_t kMostLaunchNs = 1'000'000'000;
  // Threads that launch all the time leave a call within this. Another client waits for as long.
  static constexpr uint64_t kPatienceNs = 1'000'000;

  // Has `callback` called at each launch, on its thread. kErrorHardwareBusy while a thread switches
  // it off.
  cupti::Result On(const CuptiApi& cupti, cupti::Callback callback);
  // To be called by `callback` as a thread enters a launching call and as it leaves it.
  void Entered(const cupti::CallbackData& call) { exits_.Entered(call.correlation_data); }
  void Left(const CuptiApi& cupti, const cupti::CallbackData& call);
  // No launch is wanted any more: the next thread that leaves one switches callbacks off.
  void Silence(const CuptiApi& cupti, uint64_t now_ns);
  // The same for nodes that are made or cloned.
  cupti::Result NodesOn(const CuptiApi& cupti, cupti::Callback callback);
  void SilenceNodes(const CuptiApi& cupti, uint64_t now_ns);
  // Switches callbacks off that no thread did, and gives up a subscription that has been silent for
  // long enough. To be called every few milliseconds while subscribed().
  void Turn(const CuptiApi& cupti, uint64_t now_ns);
  // Gives the subscription up at once, if there is one.
  void Off(const CuptiApi& cupti);
  // CUPTI was torn down, and the subscription with it.
  void Lost() {
    subscriber_.store(nullptr, std::memory_order_relaxed);
    exits_.Forget();
    on_.store(false, std::memory_order_relaxed);
    nodes_on_ = false;
  }
  // Launches are wanted.
  bool on() const { return on_.load(std::memory_order_relaxed); }
  // CUPTI calls back for launches, wanted or not: false once no thread is in such a call any more.
  bool launches_called_back() const { return !exits_.off(); }
  bool nodes_on() const { return nodes_on_; }
  bool subscribed() const { return subscriber() != nullptr; }

 private:
  cupti::Result Subscribe(const CuptiApi& cupti, cupti::Callback callback);
  cupti::Subscriber subscriber() const { return subscriber_.load(std::memory_order_relaxed); }
  // Whether callbacks that were to go off are still on, and stay so.
  bool StayOn();
  void FollowExits(const CuptiApi& cupti, uint64_t now_ns);

  std::atomic<cupti::Subscriber> subscriber_{nullptr};
  std::atomic<bool> on_{false};
  bool nodes_on_ = false;
  LastExit exits_;
  uint64_t calls_seen_ = 0;  // by FollowExits
  uint64_t asked_ns_ = 0;
  uint64_t idle_since_ns_ = 0;  // the program launches nothing
  uint64_t silent_since_ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_LAUNCH_CALLBACKS_H_
