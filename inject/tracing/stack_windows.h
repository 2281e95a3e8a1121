// Stacks of launches in trace windows, and of nodes of CUDA graphs at any time: the interpreter to
// read them from, and the subscription to CUPTI's callbacks that they come by. Callbacks come
// before kinds of records and go after them, so that what is recorded has a stack.
//
// In a turn of the agent's thread (turns.h), in InitializeInjection, or with the turn's lock on a
// thread that captures, or on that of another client that has us give way; OnLaunch, OnNode and
// OnMissedCapture on the program's threads.
#ifndef UTLZ_INJECT_TRACING_STACK_WINDOWS_H_
#define UTLZ_INJECT_TRACING_STACK_WINDOWS_H_

#include <atomic>
#include <cstdint>

#include "inject/driver/cupti_api.h"
#include "inject/python/python_layout.h"
#include "inject/record/recorder.h"
#include "inject/reports/agent_reports.h"
#include "inject/tracing/capture_watch.h"
#include "inject/tracing/cupti_client.h"
#include "inject/tracing/launch_callbacks.h"

namespace utlz::agent {

class StackWindows {
 public:
  // All must outlive it.
  StackWindows(const CuptiApi& cupti, Recorder& recorder, const CuptiClient& client)
      : cupti_(cupti), recorder_(recorder), client_(client) {}

  // A window with stacks begins. `calibration_due`: ranges want the subscription too, and are over
  // soon.
  void Open(bool calibration_due);
  // The window has no stacks yet, since a calibration was due or a thread was switching callbacks
  // off. Open is to be called again.
  bool postponed() const { return is_postponed_; }
  // In a window that has them, every few milliseconds: stacks that are new are named while what
  // they are of still runs. `sample_threads`: what launching threads are in is sampled too.
  void Turn(uint64_t now_ns, bool calibration_due, bool sample_threads);
  // Watches what can capture or build graphs, where an interpreter is there: tells `tell` from then
  // on.
  void WatchCaptures(CaptureWatch::Tell tell);
  // `calibration_due` as above.
  void OnCapture(CaptureEvent event, uint64_t now_ns, bool calibration_due);
  // One for which our thread did not make room in time.
  void OnMissedCapture(CaptureEvent event);
  // Reads what files of Inductor's say of the launches in them, some at a time. Between windows
  // too.
  void ReadCompiledCode();
  // The window ends. The subscription stays for a moment longer.
  void Close();
  // Ends the subscription at once: another client wants it, or the process ends.
  void GiveUp();

  // A thread enters a launching call, or leaves it. No lock, no allocation, no system call; but the
  // last thread that leaves one in a window switches callbacks off, in which CUPTI may take locks.
  void OnLaunch(const cupti::CallbackData& call) {
    if (call.site == cupti::kCallbackExit) return callbacks_.Left(cupti_, call);
    callbacks_.Entered(call);
    if (callbacks_.on()) recorder_.stacks().OnLaunch(call.correlation_id);
  }

  // A node of a graph was made, or cloned.
  void OnNode(uint32_t event, const cupti::GraphData& graph);

  bool subscribed() const { return callbacks_.subscribed(); }
  // Whether threads have still to leave launching calls that CUPTI calls back for.
  bool launches_called_back() const { return callbacks_.launches_called_back(); }
  // Why the last window that was to have stacks had none.
  NoStack reason() const { return reason_; }
  // Why that window's backward launches had no owner.
  NoBackward no_backward() const { return no_backward_; }
  // Why a capture had none, and how many were seen.
  NoCapture no_capture() const { return no_capture_.load(std::memory_order_relaxed); }
  uint64_t captures() const { return captures_.load(std::memory_order_relaxed); }
  void ForgetReasons() {
    reason_ = NoStack::kNone;
    no_backward_ = NoBackward::kNone;
    no_capture_.store(NoCapture::kNone, std::memory_order_relaxed);
    captures_.store(0, std::memory_order_relaxed);
  }

 private:
  // A graph is made of most captures within this of their begin.
  static constexpr uint64_t kMostUnusedNs = 2'000'000'000;
  // A capture that has not ended by then is not waited for.
  static constexpr uint64_t kMostCaptureNs = 60'000'000'000;

  static bool IsCapturing();
  NoStack FindInterpreter();
  NoStack Subscribe(bool calibration_due);
  NoCapture WatchCapture(bool calibration_due);
  NoCapture WatchNodes(bool calibration_due);
  void LeaveOldCaptures(uint64_t now_ns);

  const CuptiApi& cupti_;
  Recorder& recorder_;
  const CuptiClient& client_;
  LaunchCallbacks callbacks_;
  bool is_postponed_ = false;
  NoStack reason_ = NoStack::kNone;
  NoBackward no_backward_ = NoBackward::kNone;
  CaptureWatch capture_watch_;
  uint64_t captured_at_ns_ = 0;  // of the last event
  std::atomic<NoCapture> no_capture_{NoCapture::kNone};
  std::atomic<uint64_t> captures_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_STACK_WINDOWS_H_
