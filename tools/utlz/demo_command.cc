#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "tools/replay/replay.h"
#include "tools/report_html/report_html.h"
#include "tools/run/agent_library.h"
#include "tools/run/run.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/option_checks.h"
#include "tools/utlz/print_report.h"

namespace utlz {
namespace {

constexpr char kRecordingNote[] = "a PyTorch training step on an NVIDIA H200";

enum class DemoFormat { kText, kHtml };

struct DemoArguments {
  std::string recording;
  DemoFormat format = DemoFormat::kText;
  bool use_recording = false;
};

bool HasGpu() { return access("/dev/nvidiactl", R_OK | W_OK) == 0; }

// What belongs to an installed utlz, or to a build folder (build/<preset>) of its source tree.
absl::StatusOr<std::string> FindBundled(const char* installed, const char* built) {
  const absl::StatusOr<std::string> folder = ExecutableFolder();
  if (!folder.ok()) return folder.status();
  const std::filesystem::path prefix = std::filesystem::path(*folder).parent_path();
  const std::filesystem::path source = prefix.parent_path().parent_path();
  for (const std::filesystem::path& path : {prefix / installed, prefix / built, source / built}) {
    if (access(path.c_str(), R_OK) == 0) return path.string();
  }
  return absl::NotFoundError("a file of the demonstration is missing, reinstall utlz: " +
                             (prefix / installed).string());
}

// The page says in its own head that it is a recording, so that nothing need stand before it.
int PrintPage(const Summary& summary) {
  const std::string page = RenderHtml(summary);
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? kSuccess : kFailure;
}

int ShowRecording(const std::string& named, DemoFormat format) {
  std::string path = named;
  if (path.empty()) {
    const absl::StatusOr<std::string> bundled =
        FindBundled("share/utlz/demo.utlz", "data/demo.utlz");
    if (!bundled.ok()) return Fail(bundled.status());
    path = *bundled;
  }
  if (format == DemoFormat::kText) {
    std::printf("This is a recording of %s, not a measurement of this machine%s.\n", kRecordingNote,
                HasGpu() ? "" : ", which has no NVIDIA GPU");
    std::fflush(stdout);
  }
  const absl::StatusOr<Summary> summary = ReplayRecording(path, kRecordingNote);
  if (!summary.ok()) return Fail(summary.status());
  if (format == DemoFormat::kHtml) return PrintPage(*summary);
  PrintReport(*summary, stdout);
  return kSuccess;
}

int RunLoad(const std::string& program) {
  std::printf("Profiling a small CUDA program on this machine's GPU.\n");
  std::fflush(stdout);
  RunOptions options;
  options.command = {program};
  options.recording.output = "utlz-demo.utlz";
  options.recording.print_report = [](const Summary& summary) { PrintReport(summary, stderr); };
  return RunCommand(options);
}

int Demo(const DemoArguments& arguments) {
  if (arguments.use_recording || !arguments.recording.empty() || !HasGpu()) {
    return ShowRecording(arguments.recording, arguments.format);
  }
  const absl::StatusOr<std::string> load =
      FindBundled("lib/utlz/utlz-demo-load", "bin/utlz-demo-load");
  return load.ok() ? RunLoad(*load) : ShowRecording({}, arguments.format);
}

}  // namespace

void AddDemoCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<DemoArguments>();
  CLI::App* demo = program->add_subcommand(
      "demo", "Profile a bundled program; without a GPU, show a bundled recording");
  demo->add_flag("--recording", arguments->use_recording, "The recording even if a GPU is present");
  demo->add_option("--file", arguments->recording, "Another recording (.utlz)");
  const std::map<std::string, DemoFormat> formats = {{"text", DemoFormat::kText},
                                                     {"html", DemoFormat::kHtml}};
  demo->add_option("--format", arguments->format, "Of the recording's report: text or html")
      ->transform(Choice(formats))
      ->type_name("WORD");
  demo->callback([arguments, action] { *action = [arguments] { return Demo(*arguments); }; });
}

}  // namespace utlz
