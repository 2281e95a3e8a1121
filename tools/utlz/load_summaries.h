// Profiles given on the command line, reduced to summaries.
#ifndef UTLZ_TOOLS_UTLZ_LOAD_SUMMARIES_H_
#define UTLZ_TOOLS_UTLZ_LOAD_SUMMARIES_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proto/summary.pb.h"

namespace utlz {

// --recompute, which several commands take.
void AddRecomputeOption(CLI::App* command, bool* recompute);

// All of them, or nothing, with a sentence on standard error for each that cannot be read; from
// their frames with `recompute`, else as their runs left them.
std::optional<std::vector<Summary>> LoadSummaries(const std::vector<std::string>& files,
                                                  bool recompute);

// False, with a sentence on standard error, where standard output cannot be written.
bool PrintOut(const std::string& text);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_LOAD_SUMMARIES_H_
