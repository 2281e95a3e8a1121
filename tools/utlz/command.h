// One file a subcommand: each adds itself to the command line and, if it was called, runs.
#ifndef UTLZ_TOOLS_UTLZ_COMMAND_H_
#define UTLZ_TOOLS_UTLZ_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace utlz {

// Exit statuses of the commands other than run (docs/reference/exit-status.md).
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsageError = 2;

// Runs the subcommand and returns the program's exit status.
using Action = std::function<int()>;

// Each sets `*action` when its subcommand is on the command line. Those that run or hand on other
// words than their own options find them in `*words` when their action runs.
CLI::App* AddRunCommand(CLI::App* program, const std::vector<std::string>* words, Action* action);
CLI::App* AddSamplerCommand(CLI::App* program, const std::vector<std::string>* words,
                            Action* action);
void AddAttachCommand(CLI::App* program, Action* action);
void AddCollectorCommand(CLI::App* program, Action* action);
void AddPsCommand(CLI::App* program, Action* action);
void AddTopCommand(CLI::App* program, Action* action);
void AddPauseCommand(CLI::App* program, Action* action);
void AddReportCommand(CLI::App* program, Action* action);
void AddDiffCommand(CLI::App* program, Action* action);
void AddGateCommand(CLI::App* program, Action* action);
void AddMergeCommand(CLI::App* program, Action* action);
void AddExportCommand(CLI::App* program, Action* action);
void AddCalibrateCommand(CLI::App* program, Action* action);
void AddDemoCommand(CLI::App* program, Action* action);
void AddDoctorCommand(CLI::App* program, Action* action);
void AddCompletionCommand(CLI::App* program, Action* action);
// Not for people: the build writes completions and manual pages by it.
void AddShellFilesCommand(CLI::App* program, Action* action);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_COMMAND_H_
