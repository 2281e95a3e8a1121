#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "tools/collector_service/service.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/option_checks.h"
#include "tools/utlz/recording_arguments.h"

namespace utlz {
namespace {

constexpr double kBytesPerMegabyte = 1e6;

struct CollectorArguments {
  CollectorServiceOptions options;
  RecordingArguments recording;
  double linger_s = 10;
  double longest_h = 24;
  double most_megabytes_per_second = 64;
};

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1e3));
}

int Collect(CollectorArguments* arguments) {
  CollectorServiceOptions& options = arguments->options;
  const absl::Status read = ReadRecordingArguments(arguments->recording, &options.recording);
  if (!read.ok()) {
    return Fail(read, kUsageError);
  }
  if (!options.folder.empty()) options.folder = std::filesystem::absolute(options.folder);
  options.limits.linger = Milliseconds(arguments->linger_s);
  options.limits.longest = Milliseconds(arguments->longest_h * 3600);
  options.most_bytes_per_second =
      static_cast<uint64_t>(arguments->most_megabytes_per_second * kBytesPerMegabyte);
  return RunCollectorService(options);
}

void AddBounds(CLI::App* collector, CollectorArguments* arguments) {
  collector
      ->add_option("--linger", arguments->linger_s,
                   "Seconds without a process after which a job is over")
      ->check(NumberRange(0.0, kMaxSeconds))
      ->type_name("SECONDS")
      ->capture_default_str();
  collector
      ->add_option("--longest", arguments->longest_h,
                   "Hours after which a job's profile ends and another one begins")
      ->check(NumberRange(0.001, 1e4))
      ->type_name("HOURS")
      ->capture_default_str();
  collector->add_option("--most-jobs", arguments->options.limits.most_jobs, "Jobs recorded at once")
      ->check(NumberRange<size_t>(1, 1024))
      ->type_name("COUNT")
      ->capture_default_str();
  collector
      ->add_option("--most-rate", arguments->most_megabytes_per_second,
                   "Megabytes a second that are read of one process; 0: any")
      ->check(NumberRange(0.0, 1e5))
      ->type_name("MB")
      ->capture_default_str();
}

}  // namespace

void AddCollectorCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<CollectorArguments>();
  CLI::App* collector = program->add_subcommand(
      "collector", "Record the jobs of this machine as a service, each into a profile of its own");
  collector
      ->add_option("--socket", arguments->options.socket,
                   "Where agents connect, unix:PATH; default: collector in the runtime folder")
      ->type_name("PLACE");
  const std::map<std::string, AgentUsers> users = {{"own", AgentUsers::kOwn},
                                                   {"all", AgentUsers::kEverybody}};
  collector
      ->add_option("--users", arguments->options.users,
                   "Whose processes are recorded: own, or all of the machine (for root)")
      ->transform(Choice(users))
      ->type_name("WHOSE");
  collector
      ->add_option("--rules", arguments->options.rules,
                   "A file of rules: which running processes to attach to, by name and user, "
                   "cgroup or pod")
      ->type_name("FILE");
  AddBounds(collector, arguments.get());
  AddServiceRecordingOptions(collector, &arguments->recording, &arguments->options.recording);
  collector
      ->add_option("-o,--output", arguments->options.folder,
                   "Folder of the profiles; default: profiles in utlz's state folder")
      ->type_name("FOLDER");
  collector->callback(
      [arguments, action] { *action = [arguments] { return Collect(arguments.get()); }; });
}

}  // namespace utlz
