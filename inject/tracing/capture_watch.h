// When the program captures a CUDA graph, and when it makes one that can run of what it captured.
//
// Nothing in CUPTI says so without a subscription. What can be seen are calls of the CUDA runtime
// through the import slots of modules that are linked to it, as PyTorch is: the slots of these few
// functions are pointed at observers, which tell the agent and call the runtime. No launch goes
// through them. They stay until the process ends, and tell nobody once the agent is through.
// Captures by functions of the driver, or of a runtime that is part of another library, are not
// seen.
#ifndef UTLZ_INJECT_TRACING_CAPTURE_WATCH_H_
#define UTLZ_INJECT_TRACING_CAPTURE_WATCH_H_

#include <cstdint>

#include "inject/driver/one_agent.h"

namespace utlz::agent {

// Agent's thread, or in InitializeInjection; under a turn (turns.h).
class CaptureWatch {
 public:
  // Called on the program's threads from then on.
  using Tell = void (*)(CaptureEvent event);

  // Whether a module was loaded since this was last asked.
  bool TakeNewModules();
  // Watches every module that is linked to a CUDA runtime of release 11 to 13.
  static void WatchImporters(Tell tell);

  // How many captures are under way. Any thread.
  static uint32_t Open();

 private:
  uint64_t modules_seen_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_CAPTURE_WATCH_H_
