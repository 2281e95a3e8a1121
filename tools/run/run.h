// `utlz run`: a command with a session around it.
#ifndef UTLZ_TOOLS_RUN_RUN_H_
#define UTLZ_TOOLS_RUN_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/run/recording_options.h"

namespace utlz {

// Exit statuses of our own, as env, timeout and shells use them.
inline constexpr int kRunFailed = 125;  // utlz itself, before the command started
inline constexpr int kCommandNotExecutable = 126;
inline constexpr int kCommandNotFound = 127;

struct RunOptions {
  std::vector<std::string> command;  // not empty
  RecordingOptions recording;
  uint64_t delay_ms = 0;
  std::optional<uint64_t> duration_ms;
  // Nothing is recorded: the agent is loaded and inactive until `utlz attach` activates it, and the
  // command takes this process's place. Of the other options only `command` counts.
  bool preload = false;
  // unix:PATH or a path: nothing is recorded here, the agents connect to the collector that serves
  // this socket, and the command takes this process's place. Likewise only `command` counts.
  std::string collector;
  uint32_t message_columns = 100;  // of the terminal that long messages go to
};

// Runs the command and returns its exit status, 128 + n where signal n ended it, or one of ours.
// Everything of ours goes to standard error; standard input and output are the command's alone.
int RunCommand(const RunOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_RUN_H_
