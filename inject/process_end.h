// The end of the process, or of its main thread: what was recorded is handed over before libraries
// are torn down, and our thread is out of them by then
// (docs/decisions/0020-ranges-end-before-the-libraries-they-use.md).
//
// The thread that ends calls it. The agent's thread calls BeginsTracing, FinishedBeginning and
// near.
#ifndef UTLZ_INJECT_PROCESS_END_H_
#define UTLZ_INJECT_PROCESS_END_H_

#include <atomic>

#include "inject/base/turns.h"
#include "inject/recording.h"

namespace utlz::agent {

class ProcessEnd {
 public:
  // Both must outlive it.
  ProcessEnd(Turns& turns, Recording& recording) : turns_(turns), recording_(recording) {}

  // The program's main thread ends, and most likely the process: no ranges from now on, and no
  // attachment begins to trace.
  void OnMainThreadEnds();
  // At exit(): our thread is out of CUPTI, and counts no ranges.
  void OnExitBegins();
  // Likewise, before CUDA is taken down: everything that CUPTI has is handed over.
  void OnExit();

  // CUPTI is being loaded by our thread while the program runs.
  void BeginsTracing() { begins_tracing_ = true; }
  void FinishedBeginning() { begins_tracing_ = false; }
  // What has not begun does not any more.
  bool is_near() const { return recording_.ranges_refused(); }

 private:
  bool EndTurns();
  void EndTracing();

  Turns& turns_;
  Recording& recording_;
  std::atomic<bool> begins_tracing_{false};
  std::atomic<bool> over_{false};
  uint64_t delay_ns_ = 0;  // how long the process's end waited for us
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PROCESS_END_H_
