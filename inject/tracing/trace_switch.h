// Which activity kinds are on, and since when: enables and disables them, and tells the collector
// of every window in which records flowed without a gap (TraceWindow). Used on the agent's thread
// and, before that exists, in InitializeInjection.
//
// Where there are contexts, kinds are switched context by context: CUPTI 13.0 corrupts its memory
// and kills the process when cuptiActivityEnable or cuptiActivityDisable is called while another
// thread launches memory sets (docs/decisions/0011-contexts-are-paused-one-by-one.md).
#ifndef UTLZ_INJECT_TRACING_TRACE_SWITCH_H_
#define UTLZ_INJECT_TRACING_TRACE_SWITCH_H_

#include <cstdint>

#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"
#include "inject/driver/primary_contexts.h"
#include "inject/record/recorder.h"

namespace utlz::agent {

class TraceSwitch {
 public:
  void Create(const CuptiApi* cupti, const CudaApi* cuda, Recorder* recorder) {
    cupti_ = cupti;
    cuda_ = cuda;
    recorder_ = recorder;
  }
  // Enables the kinds of `flags` (kTrace* of ring_abi.h) and opens a window. Where CUPTI refuses
  // one nothing stays on, no window begins, and what it said is returned.
  cupti::Result On(uint32_t flags);
  // Disables them and closes the window. The agent sends `reason`, a literal or null, with the next
  // window's frame.
  // Where not Pausable(), for the whole process, at its risk.
  void Off(const char* reason);
  // Off() was not enough, and kernel records still come: CUPTI 13.0 goes on recording the nodes of
  // graphs that were instantiated while it traced, until it is switched on and off once more.
  void OffAgain();
  // Whether kinds are on for the process: since before there was a context.
  bool process_wide() const { return process_wide_; }
  // After Off(), for good: contexts that are still to come will not be traced either.
  void OffForNewContexts();
  // Traces contexts that have come since, where they do not begin traced.
  void FollowNewContexts();
  // Whether all that was recorded in this window can be switched off safely while it goes on.
  bool Pausable() const;
  // Another client has taken the buffers: the window ended when records were last handed over
  // (CUPTI's clock, 0 = never), and nothing of CUPTI's is touched.
  void Lost(const char* reason, uint64_t handed_over_ns);
  // The process ends: a gap with a reason, which no next window would report, ends here. CUPTI,
  // whose clock is the realtime clock, is not called: another client may have it.
  void EndGap();

  bool on() const { return on_; }
  // In a gap with a reason.
  bool InGap() const { return !on_ && gap_reason_ != nullptr; }
  uint32_t flags() const { return flags_; }

 private:
  bool SwitchesContexts() const;
  cupti::Result ContextOn(cupti::Context context);
  void ContextOff(cupti::Context context);
  cupti::Result ContextsOn(const PrimaryContexts& contexts);
  void ContextsOff(const PrimaryContexts& contexts);
  cupti::Result ProcessOn();
  void ProcessOff();
  cupti::Result SwitchMarkers(bool on);
  void SendWindow(uint64_t end_ns);
  uint64_t Now() const;

  const CuptiApi* cupti_ = nullptr;
  const CudaApi* cuda_ = nullptr;
  Recorder* recorder_ = nullptr;
  bool on_ = false;
  bool process_wide_ = false;    // new contexts begin traced
  uint64_t traced_devices_ = 0;  // whose primary contexts were switched on
  uint32_t flags_ = 0;
  uint64_t start_ns_ = 0;
  const char* gap_reason_ = nullptr;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_TRACE_SWITCH_H_
