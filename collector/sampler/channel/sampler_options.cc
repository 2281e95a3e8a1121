#include "collector/sampler/channel/sampler_options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr uint64_t kShortestIntervalNs = 1'000;
constexpr uint64_t kLongestIntervalNs = 1'000'000'000;

template <typename Number>
bool ParseNumber(const std::string& text, Number* number) {
  return absl::SimpleAtoi(text, number);
}

// Sets the option that `name` names; false if there is none, or if the value does not fit.
bool SetOption(const std::string& name, const std::string& value, SamplerOptions* options) {
  if (name == "--channel-fd") return ParseNumber(value, &options->channel_fd);
  if (name == "--interval-ns") {
    return ParseNumber(value, &options->interval_ns) &&
           options->interval_ns >= kShortestIntervalNs &&
           options->interval_ns <= kLongestIntervalNs;
  }
  if (name == "--duty-ppm") return ParseNumber(value, &options->duty_ppm);
  if (name == "--cpu-budget-ppm") return ParseNumber(value, &options->cpu_budget_ppm);
  if (name == "--cpu-burst-ns") return ParseNumber(value, &options->cpu_burst_ns);
  if (name == "--power-loss-ppm") return ParseNumber(value, &options->power_loss_ppm);
  if (name == "--all-devices") return absl::SimpleAtob(value, &options->all_devices);
  if (name == "--planned-windows") return absl::SimpleAtob(value, &options->planned_windows);
  if (name == "--counters") return absl::SimpleAtob(value, &options->counters);
  if (name == "--cupti") {
    options->cupti_path = value;
    return true;
  }
  if (name == "--program-prefix") {
    options->program_prefix = value;
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> SamplerArguments(const SamplerOptions& options) {
  return {
      absl::StrCat("--channel-fd=", options.channel_fd),
      absl::StrCat("--interval-ns=", options.interval_ns),
      absl::StrCat("--duty-ppm=", options.duty_ppm),
      absl::StrCat("--cpu-budget-ppm=", options.cpu_budget_ppm),
      absl::StrCat("--cpu-burst-ns=", options.cpu_burst_ns),
      absl::StrCat("--power-loss-ppm=", options.power_loss_ppm),
      absl::StrCat("--all-devices=", options.all_devices ? "true" : "false"),
      absl::StrCat("--planned-windows=", options.planned_windows ? "true" : "false"),
      absl::StrCat("--counters=", options.counters ? "true" : "false"),
      absl::StrCat("--cupti=", options.cupti_path),
      absl::StrCat("--program-prefix=", options.program_prefix),
  };
}

absl::StatusOr<SamplerOptions> ParseSamplerArguments(const std::vector<std::string>& arguments) {
  SamplerOptions options;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (equals == std::string::npos ||
        !SetOption(argument.substr(0, equals), argument.substr(equals + 1), &options)) {
      return absl::InvalidArgumentError(
          absl::StrCat("utlz sampler: cannot use the argument '", argument, "'"));
    }
  }
  return options;
}

}  // namespace utlz
