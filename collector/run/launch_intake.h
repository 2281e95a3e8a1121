// Takes a process's launches into the state of the run: each one's time to its kernel, stream and
// trace window, and the work itself to its device, in whose order it is seen later. Thread safety:
// none.
#ifndef UTLZ_COLLECTOR_RUN_LAUNCH_INTAKE_H_
#define UTLZ_COLLECTOR_RUN_LAUNCH_INTAKE_H_

#include <string_view>

#include "collector/decode/launch_decoder.h"
#include "collector/run/run_state.h"

namespace utlz {

class LaunchIntake {
 public:
  // One frame of launches. False where it is malformed: then it had no effect.
  bool Take(std::string_view payload, ProcessState* process, RunState* state);

 private:
  LaunchDecoder decoder_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_LAUNCH_INTAKE_H_
