// Has CUPTI report work that was not there before: the first launch of every kernel, for which it
// is loaded, and calls that load modules or make graphs. Such records are seldom and cost nothing
// else (docs/measurements/overhead.md), so they come between trace windows too.
//
// The first launches are records of CUPTI's own overhead, switched on context by context as other
// kinds are (trace_switch.h). Calls are recorded only where they were chosen before CUDA had a
// context (measured with CUPTI 13.0 and 12.8): in a process that was running before, CUPTI does not
// report a graph of kernels that have all been launched before.
//
// Agent's thread, InitializeInjection before that exists, and the thread of another client that
// takes CUPTI over, while the agent's waits.
#ifndef UTLZ_INJECT_RECORD_FIRST_LAUNCH_WATCH_H_
#define UTLZ_INJECT_RECORD_FIRST_LAUNCH_WATCH_H_

#include <cstdint>

#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"

namespace utlz::agent {

class FirstLaunchWatch {
 public:
  void Create(const CuptiApi* cupti, const CudaApi* cuda) {
    cupti_ = cupti;
    cuda_ = cuda;
  }
  // Already on: for contexts that have come since too.
  void On();
  void Off();
  // Another client has taken the buffers, and what is on now is its own: nothing of CUPTI's is
  // touched.
  void Lost() { on_ = process_wide_ = false; }
  bool on() const { return on_; }

 private:
  void ContextsOn();

  const CuptiApi* cupti_ = nullptr;
  const CudaApi* cuda_ = nullptr;
  bool on_ = false;
  bool process_wide_ = false;  // new contexts begin watched
  uint64_t devices_ = 0;       // whose primary contexts are watched
};

// Whether the record is of a kernel that CUDA loads for its first launch, or of a module that the
// runtime loads.
inline bool IsLoading(const cupti::OverheadRecord& record) {
  return record.overhead_kind == cupti::kOverheadModuleLoading ||
         record.overhead_kind == cupti::kOverheadFunctionLoading;
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_FIRST_LAUNCH_WATCH_H_
