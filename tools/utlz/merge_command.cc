#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/merge/merge.h"
#include "tools/report/text_sections.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"
#include "tools/utlz/terminal.h"

namespace utlz {
namespace {

struct MergeArguments {
  std::vector<std::string> profiles;
  std::string output;
};

int RunMerge(const MergeArguments& arguments) {
  const absl::StatusOr<Summary> summary = MergeProfiles(arguments.profiles, arguments.output);
  if (!summary.ok()) {
    return Fail(summary.status(), kFailure);
  }
  TextOptions options;
  options.color = UseColor(STDOUT_FILENO);
  const bool printed = PrintOut(RenderRanks(*summary, options));
  const size_t profiles = arguments.profiles.size();
  std::fprintf(stderr, "utlz: %s holds %zu %s; utlz report %s shows the whole\n",
               arguments.output.c_str(), profiles, profiles == 1 ? "profile" : "profiles",
               arguments.output.c_str());
  return printed ? kSuccess : kFailure;
}

}  // namespace

void AddMergeCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<MergeArguments>();
  CLI::App* merge = program->add_subcommand(
      "merge", "Profiles of several ranks and hosts as one, with stragglers");
  merge->add_option("FILE", arguments->profiles, "Profiles (.utlz)")->required()->type_name("");
  merge->add_option("-o", arguments->output, "The merged profile")->required()->type_name("FILE");
  merge->callback([arguments, action] { *action = [arguments] { return RunMerge(*arguments); }; });
}

}  // namespace utlz
