// Which activity kinds are on, and since when: enables and disables them, and tells the collector
// of every window in which records flowed without a gap (TraceWindow). Used on the agent's thread
// and, before that exists, in InitializeInjection.
#ifndef UTLZ_INJECT_TRACE_SWITCH_H_
#define UTLZ_INJECT_TRACE_SWITCH_H_

#include <cstdint>

#include "inject/cupti_api.h"
#include "inject/recorder.h"

namespace utlz::inject {

class TraceSwitch {
 public:
  void Create(const CuptiApi* cupti, Recorder* recorder) {
    cupti_ = cupti;
    recorder_ = recorder;
  }
  // Enables the kinds of `flags` (kTrace* of ring_abi.h) and opens a window.
  cupti::Result On(uint32_t flags);
  // Disables them and closes the window. `reason`, a literal or null, is told with the next one.
  void Off(const char* reason);
  // Off() was not enough, and kernel records still come: CUPTI 13.0 goes on recording the nodes of
  // graphs that were instantiated while it traced, until it is switched on and off once more.
  void OffAgain();
  // Another client has taken the buffers: the window ended when records were last handed over
  // (CUPTI's clock, 0 = never), and nothing of CUPTI's is touched.
  void Lost(const char* reason, uint64_t handed_over_ns);
  // The process ends: a gap with a reason, which no next window would tell of, ends here. CUPTI,
  // whose clock is the realtime clock, is not called: another client may have it.
  void EndGap();

  bool on() const { return on_; }
  uint32_t flags() const { return flags_; }

 private:
  void SendWindow(uint64_t end_ns);
  uint64_t Now() const;

  const CuptiApi* cupti_ = nullptr;
  Recorder* recorder_ = nullptr;
  bool on_ = false;
  uint32_t flags_ = 0;
  uint64_t start_ns_ = 0;
  const char* gap_reason_ = nullptr;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_TRACE_SWITCH_H_
