// CUPTI's callbacks of the driver's launching calls, in trace windows alone, and of nodes of CUDA
// graphs, while some are captured. CUPTI has one subscription, which both share and other clients
// want (docs/decisions/0022-stacks-are-read-in-callbacks-of-windows.md).
//
// One call at a time, on the agent's thread, on one that captures, or on a client's that has us
// give way; subscribed() at any time.
#ifndef UTLZ_INJECT_TRACING_LAUNCH_CALLBACKS_H_
#define UTLZ_INJECT_TRACING_LAUNCH_CALLBACKS_H_

#include <atomic>
#include <cstdint>

#include "inject/driver/cupti_api.h"

namespace utlz::agent {

class LaunchCallbacks {
 public:
  // A subscription outlives its callbacks by this long: launches that are under way when they are
  // switched off are out of CUPTI's hands by then.
  static constexpr uint64_t kGraceNs = 20'000'000;

  // Has `callback` called at each launch, on its thread.
  cupti::Result On(const CuptiApi& cupti, cupti::Callback callback);
  // Switches callbacks of launches off; those that are on their way still come.
  void Silence(const CuptiApi& cupti, uint64_t now_ns);
  // The same for nodes that are made or cloned.
  cupti::Result NodesOn(const CuptiApi& cupti, cupti::Callback callback);
  void SilenceNodes(const CuptiApi& cupti, uint64_t now_ns);
  // Gives up a subscription that has been silent for long enough. To be called every few
  // milliseconds while subscribed().
  void Turn(const CuptiApi& cupti, uint64_t now_ns);
  // Gives the subscription up at once, if there is one.
  void Off(const CuptiApi& cupti);
  // CUPTI was torn down, and the subscription with it.
  void Lost() {
    subscriber_.store(nullptr, std::memory_order_relaxed);
    on_ = nodes_on_ = false;
  }
  bool on() const { return on_; }
  bool nodes_on() const { return nodes_on_; }
  bool subscribed() const { return subscriber() != nullptr; }

 private:
  cupti::Result Subscribe(const CuptiApi& cupti, cupti::Callback callback);
  cupti::Subscriber subscriber() const { return subscriber_.load(std::memory_order_relaxed); }

  std::atomic<cupti::Subscriber> subscriber_{nullptr};
  bool on_ = false;
  bool nodes_on_ = false;
  uint64_t silent_since_ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_LAUNCH_CALLBACKS_H_
