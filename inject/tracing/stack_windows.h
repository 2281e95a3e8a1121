// Stacks of launches in trace windows: the interpreter to read them from, and the subscription to
// CUPTI's callbacks that they come by. Callbacks come before kinds of records and go after them, so
// that what is recorded has a stack.
//
// In a turn of the agent's thread (turns.h), in InitializeInjection, or on the thread of another
// client that has us give way; OnLaunch on launching threads.
#ifndef UTLZ_INJECT_TRACING_STACK_WINDOWS_H_
#define UTLZ_INJECT_TRACING_STACK_WINDOWS_H_

#include <cstdint>

#include "inject/driver/cupti_api.h"
#include "inject/python/python_layout.h"
#include "inject/record/recorder.h"
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
  // In a window that has them, every few milliseconds: stacks that are new are named while what
  // they are of still runs.
  void Turn(uint64_t now_ns, bool calibration_due);
  // Reads what files of Inductor's say of the launches in them, some at a time. Between windows
  // too.
  void ReadCompiledCode();
  // The window ends. The subscription stays for a moment longer.
  void Close();
  // Ends the subscription at once: another client wants it, or the process ends.
  void GiveUp();

  // No lock, no allocation, no system call.
  void OnLaunch(const cupti::CallbackData& call) {
    recorder_.stacks().OnLaunch(call.correlation_id);
  }

  bool subscribed() const { return callbacks_.subscribed(); }
  // Why the last window that was to have stacks had none.
  NoStack reason() const { return reason_; }
  // Why that window's backward launches had no owner.
  NoBackward no_backward() const { return no_backward_; }
  void ForgetReasons() {
    reason_ = NoStack::kNone;
    no_backward_ = NoBackward::kNone;
  }

 private:
  NoStack Subscribe(bool calibration_due);

  const CuptiApi& cupti_;
  Recorder& recorder_;
  const CuptiClient& client_;
  LaunchCallbacks callbacks_;
  NoStack reason_ = NoStack::kNone;
  NoBackward no_backward_ = NoBackward::kNone;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_STACK_WINDOWS_H_
