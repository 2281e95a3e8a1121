// Answers XLA's calls of NVTX: which instruction of a compiled program a thread is in
// (docs/decisions/0072-xla-names-its-instructions.md). Other domains of NVTX are passed on to the
// tool that was there before, which may be none.
//
// Threads: NVTX's, which are the target's. CurrentInstruction: any, without a lock. There from the
// start and never destroyed, since NVTX may call at any time.
#ifndef UTLZ_INJECT_XLA_XLA_RANGES_H_
#define UTLZ_INJECT_XLA_XLA_RANGES_H_

#include <cstdint>

#include "inject/driver/nvtx_abi.h"
#include "inject/driver/one_agent.h"
#include "inject/xla/instruction_texts.h"

namespace utlz::agent {

// Takes the functions of one copy of NVTX over. `is_answered`: a tool that answers the rest has put
// its own there; without one NVTX's tables hold functions that look for a tool, and must not be
// called. False where the copy stays as it is: it lacks the functions, or they are others than
// those of an earlier copy.
bool WatchXla(nvtx::GetExportTable get_export_table, bool is_answered);

// Calls `tell` from now on, on the program's threads, when XLA begins to run a program in which it
// may build CUDA graphs, and when it is through (CaptureEvent::kBuilds, kBuilt).
void TellOfXlaPrograms(void (*tell)(CaptureEvent event));
// How many of these are under way. Any thread.
uint32_t OpenXlaPrograms();

// The instruction that the calling thread is in, or the program that XLA tries on it; 0: none.
uint32_t CurrentInstruction();
// Of a number that CurrentInstruction gave.
InstructionTexts::Texts TextsOfInstruction(uint32_t instruction);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_XLA_XLA_RANGES_H_
