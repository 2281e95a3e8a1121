#include "tools/processes/gpu_processes.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"

namespace utlz {
namespace {

int ListProcesses() {
  return PrintOut(RenderGpuProcesses(FindGpuProcesses())) ? kSuccess : kFailure;
}

}  // namespace

void AddPsCommand(CLI::App* program, Action* action) {
  CLI::App* ps = program->add_subcommand(
      "ps", "The processes that use a GPU, and whether an agent is in them");
  ps->callback([action] { *action = ListProcesses; });
}

}  // namespace utlz
