// One calibration: exact counters of what the program launches between its own synchronizations.
//
// A range opens and closes only where the context is idle already, on the exit of a synchronization
// that the program itself made, so pushing and popping have nothing to wait for. Setting up and
// reading out happen on the agent's thread. Everything is bounded: kMaxRanges ranges, kWindowNs of
// time, one calibration a process.
//
// While it lasts the agent subscribes to CUPTI's callbacks, of which there is one subscriber. A
// torch.profiler that starts in those moments ends it (other_client.h).
#ifndef UTLZ_INJECT_RANGES_RANGE_SESSION_H_
#define UTLZ_INJECT_RANGES_RANGE_SESSION_H_

#include <atomic>
#include <cstdint>

#include "inject/base/last_exit.h"
#include "inject/driver/cupti_api.h"
#include "inject/ranges/idle_tracker.h"
#include "inject/ranges/range_counters.h"
#include "inject/record/recorder.h"

namespace utlz::agent {

class RangeSession {
 public:
  // One turn of the agent's thread. `allowed`: the collector wants ranges and has freed the
  // counters.
  void Turn(const CuptiApi& cupti, Recorder* recorder, bool allowed, uint64_t now_ns);
  // The agent becomes inactive: nothing new begins. True while a range that is open has yet to be
  // closed by the program's next synchronization; the counters would stay with this process
  // otherwise. Agent's thread.
  bool EndSoon();
  // Gives up whatever is under way: no subscriber and no callback is left behind.
  void Abandon();
  // The process ends, and our thread is in no turn: what was counted is read out, and the counters
  // are given back, unless that had to wait for the GPU.
  void EndAtExit();
  bool Finished() const { return phase_.load() == Phase::kFinished; }
  bool UnderWay() const { return phase_.load() != Phase::kNone && !Finished(); }

  // CUPTI's callback for driver calls, as a thread enters one and as it leaves.
  void OnDriverCall(const cupti::CallbackData& call);

 private:
  enum class Phase : uint32_t {
    kNone,
    kFindContext,  // subscribed; waiting for the first idle context, and for the main thread
    kSetUp,        // the agent's thread starts the counters
    kRunning,      // ranges open and close in the callback
    kStopped,      // the agent's thread reads out
    kFinished,
  };
  struct Range {
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t launches;
  };

  void Begin(uint64_t now_ns);
  bool StartCounters();
  void SetUp();
  void FollowDriverCall(const cupti::CallbackData& call, bool leaves);
  void SwitchCallbacks(bool on);
  void OnIdle(const cupti::CallbackData& call);
  void CloseRange();
  void Send(uint32_t decoded);
  // These wait for so long at most until no thread is in a driver call (last_exit.h).
  void ReadOut(uint64_t patience_ns);
  void Disable(uint64_t patience_ns);
  void End(uint64_t patience_ns);

  const CuptiApi* cupti_ = nullptr;
  Recorder* recorder_ = nullptr;
  cupti::Subscriber subscriber_ = nullptr;
  std::atomic<Phase> phase_{Phase::kNone};
  std::atomic<bool> in_callback_{false};
  LastExit exits_;
  std::atomic<cupti::Context> context_{nullptr};
  std::atomic<uint32_t> context_id_{0};
  IdleTracker idle_;
  RangeCounters counters_;
  uint64_t began_ns_ = 0;
  uint64_t setup_ns_ = 0;
  std::atomic<uint64_t> deadline_ns_{0};
  bool range_open_ = false;
  bool sent_ = false;
  uint32_t ranges_ = 0;
  uint32_t discarded_ = 0;
  Range range_[RangeCounters::kMaxRanges];
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RANGES_RANGE_SESSION_H_
