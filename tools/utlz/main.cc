// The program `utlz`; by the name utlz-run it is `utlz run`, by utlz-attach `utlz attach`.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/text/shown_text.h"
#include "google/protobuf/stubs/common.h"
#include "tools/run/run.h"
#include "tools/utlz/command.h"
#include "tools/utlz/command_split.h"

namespace utlz {
namespace {

// The arguments after the program's name, with "run" or "attach" first where the name says so.
std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  if (argc < 1) return arguments;
  const std::string_view name(argv[0]);
  const std::string_view base_name = name.substr(name.rfind('/') + 1);
  if (base_name == "utlz-run") arguments.emplace_back("run");
  if (base_name == "utlz-attach") arguments.emplace_back("attach");
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return arguments;
}

// Descriptors that whoever started us has closed, lest a profile opens as one of them and takes in
// what is printed. Reading and writing them fails as before, and commands find them closed.
void OccupyStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

// Protobuf would print a line for each text of a profile that is no valid UTF-8. Reports replace it.
void SilenceProtobuf() {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  google::protobuf::SetLogHandler(nullptr);
#endif
}

bool IsUnknownCommand(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) return false;
  const auto has_that_name = [&](const CLI::App* command) {
    return command->get_name() == arguments[0];
  };
  return program.get_subcommands(has_that_name).empty();
}

// CLI11 says of an option that is given twice that at most one is required.
std::string FailureText(const CLI::App* program, const CLI::Error& error) {
  constexpr std::string_view kTooMany = ": At Most 1 required but received ";
  std::string text = CLI::FailureMessage::simple(program, error);
  const size_t at = text.find(kTooMany);
  if (at == std::string::npos) return text;
  text.replace(at, kTooMany.size(), ": given ");
  text.insert(text.find('\n', at), " times, and it takes one value");
  return text;
}

int ParseFailure(const CLI::App& program, const CLI::ParseError& error, bool is_run) {
  const int status = program.exit(error);
  if (status == 0) return kSuccess;  // --help and --version
  return is_run ? kRunFailed : kUsageError;
}

int Main(int argc, char** argv) {
  CLI::App program("utlz: where the FLOPs, the bytes and the time of a GPU job go", "utlz");
  program.set_version_flag("--version", "utlz " UTLZ_VERSION);
  program.require_subcommand(1);
  program.get_formatter()->column_width(34);
  program.failure_message(FailureText);
  Action action;
  std::vector<std::string> words;
  const CLI::App* run = AddRunCommand(&program, &words, &action);
  const CLI::App* sampler = AddSamplerCommand(&program, &words, &action);
  AddAttachCommand(&program, &action);
  AddCollectorCommand(&program, &action);
  AddPsCommand(&program, &action);
  AddTopCommand(&program, &action);
  AddPauseCommand(&program, &action);
  AddReportCommand(&program, &action);
  AddDiffCommand(&program, &action);
  AddGateCommand(&program, &action);
  AddMergeCommand(&program, &action);
  AddExportCommand(&program, &action);
  AddCalibrateCommand(&program, &action);
  AddDemoCommand(&program, &action);
  AddDoctorCommand(&program, &action);
  AddCompletionCommand(&program, &action);
  AddShellFilesCommand(&program, &action);

  std::vector<std::string> arguments = Arguments(argc, argv);
  if (IsUnknownCommand(program, arguments)) {
    std::fprintf(stderr, "utlz: there is no command '%s'; utlz --help lists them\n",
                 EscapeForTerminal(arguments[0]).c_str());
    return kUsageError;
  }
  const bool is_run = !arguments.empty() && arguments[0] == run->get_name();
  if (is_run) {
    CommandSplit split = SplitCommand(*run, arguments);
    arguments = std::move(split.own);
    words = std::move(split.command);
  } else if (!arguments.empty() && arguments[0] == sampler->get_name()) {
    words.assign(arguments.begin() + 1, arguments.end());
    arguments.resize(1);
  }
  try {
    // CLI11 takes arguments in reverse order.
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return ParseFailure(program, error, is_run);
  }
  return action ? action() : kUsageError;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) {
  utlz::OccupyStandardStreams();
  utlz::SilenceProtobuf();
  try {
    return utlz::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "utlz: %s\n", error.what());
    return utlz::kFailure;
  }
}
