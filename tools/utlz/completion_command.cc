#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/utlz/command.h"
#include "tools/utlz/command_description.h"
#include "tools/utlz/completion.h"
#include "tools/utlz/load_summaries.h"
#include "tools/utlz/manual_page.h"
#include "tools/utlz/option_checks.h"

namespace utlz {
namespace {

enum class Shell { kBash, kZsh, kFish };

std::string ScriptFor(Shell shell, const std::vector<CommandDescription>& commands) {
  switch (shell) {
    case Shell::kBash:
      return BashCompletion(commands);
    case Shell::kZsh:
      return ZshCompletion(commands);
    case Shell::kFish:
      break;
  }
  return FishCompletion(commands);
}

bool WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return true;
  std::fprintf(stderr, "utlz: cannot write %s\n", path.c_str());
  return false;
}

// Manual pages and completions, where an installed folder has them.
bool WriteShellFiles(CLI::App& program, const std::filesystem::path& share) {
  const std::vector<CommandDescription> commands = DescribeCommands(program);
  const std::filesystem::path pages = share / "man/man1";
  bool written = WriteFile(pages / "utlz.1", ProgramPage(program.get_description(), commands));
  for (const CommandDescription& command : commands) {
    written = WriteFile(pages / ("utlz-" + command.name + ".1"), CommandPage(command)) && written;
  }
  // bash looks for a file by the name of the command whose words it completes.
  for (const char* name : {"utlz", "utlz-run", "utlz-attach"}) {
    written = WriteFile(share / "bash-completion/completions" / name, BashCompletion(commands)) &&
              written;
    written = WriteFile(share / "fish/vendor_completions.d" / (std::string(name) + ".fish"),
                        FishCompletion(commands)) &&
              written;
  }
  return WriteFile(share / "zsh/site-functions/_utlz", ZshCompletion(commands)) && written;
}

}  // namespace

void AddCompletionCommand(CLI::App* program, Action* action) {
  const auto shell = std::make_shared<Shell>(Shell::kBash);
  CLI::App* completion = program->add_subcommand(
      "completion", "Print what completes utlz's words in a shell: source <(utlz completion bash)");
  const std::map<std::string, Shell> shells = {
      {"bash", Shell::kBash}, {"zsh", Shell::kZsh}, {"fish", Shell::kFish}};
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->transform(Choice(shells))
      ->type_name("");
  completion->callback([program, shell, action] {
    *action = [program, shell] {
      return PrintOut(ScriptFor(*shell, DescribeCommands(*program))) ? kSuccess : kFailure;
    };
  });
}

void AddShellFilesCommand(CLI::App* program, Action* action) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* files = program->add_subcommand("shell-files", "");
  files->group("");  // hidden
  files->add_option("FOLDER", *folder, "An installed folder's share")->required();
  files->callback([program, folder, action] {
    *action = [program, folder] {
      return WriteShellFiles(*program, *folder) ? kSuccess : kFailure;
    };
  });
}

}  // namespace utlz
