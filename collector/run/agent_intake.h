// Takes the frames of agents into the state of the run: each one to the table that keeps it.
// Every payload is hostile until checked. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_AGENT_INTAKE_H_
#define UTLZ_COLLECTOR_RUN_AGENT_INTAKE_H_

#include <cstdint>
#include <string_view>

#include "collector/decode/copy_decoder.h"
#include "collector/run/launch_intake.h"
#include "collector/run/run_state.h"

namespace utlz {

class AgentIntake {
 public:
  // The state must outlive it.
  explicit AgentIntake(RunState* state) : state_(state) {}

  // One frame of a process. False where it is refused. Types that are not an agent's are
  // skipped.
  bool Take(uint16_t type, std::string_view payload, ProcessState* process);

 private:
  bool TakeProcess(ProcessState* process, std::string_view payload);
  bool TakeDevice(ProcessState* process, std::string_view payload);
  bool TakeContext(ProcessState* process, std::string_view payload);
  bool TakeLaunches(ProcessState* process, std::string_view payload);
  bool TakeCopies(ProcessState* process, std::string_view payload);
  bool TakeMarkers(ProcessState* process, std::string_view payload);
  bool TakeLaunchCalls(ProcessState* process, std::string_view payload);
  bool TakeCommunicationCalls(ProcessState* process, std::string_view payload);
  bool TakeTraceWindow(ProcessState* process, std::string_view payload);
  bool TakeRanges(ProcessState* process, std::string_view payload);
  bool TakeCompiledCode(const ProcessState& process, std::string_view payload);
  bool TakeStatus(ProcessState* process, std::string_view payload);
  bool TakePoolMemory(ProcessState* process, std::string_view payload);
  bool TakeEnd(ProcessState* process, std::string_view payload);

  RunState* state_;
  LaunchIntake launch_intake_;
  DecodedCopies copies_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_AGENT_INTAKE_H_
