// The command line's options that `utlz run` and `utlz attach` share.
#ifndef UTLZ_TOOLS_UTLZ_RECORDING_ARGUMENTS_H_
#define UTLZ_TOOLS_UTLZ_RECORDING_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/model_flops/workload_spec_request.h"
#include "tools/run/recording_options.h"

namespace utlz {

struct RecordingArguments {
  std::string overhead_budget = "1%";
  bool no_report = false;
  bool no_new_work = false;
  WorkloadSpecRequest work;
  std::vector<std::string> alerts;
};

// Adds the options to `command`; `output` is the description of -o. Both structures must live until
// the command line is parsed.
void AddRecordingOptions(CLI::App* command, const std::string& output,
                         RecordingArguments* arguments, RecordingOptions* options);

// Those of them that a service has too, which records many jobs.
void AddServiceRecordingOptions(CLI::App* command, RecordingArguments* arguments,
                                RecordingOptions* options);

// What the words of the command line say, once it is parsed; the report goes to standard error.
// InvalidArgument names the option that does not.
absl::Status ReadRecordingArguments(const RecordingArguments& arguments, RecordingOptions* options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_RECORDING_ARGUMENTS_H_
