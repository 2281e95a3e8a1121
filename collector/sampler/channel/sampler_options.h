// What a sampler process is asked to do, and its form on a command line (`utlz sampler …`).
#ifndef UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_OPTIONS_H_
#define UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz {

struct SamplerOptions {
  // Our end of a stream socket: frames (proto/frame.h) go out, SamplerCommand comes in.
  int channel_fd = 3;
  // Length of one PM sample. The hardware takes 5 µs and up.
  uint64_t interval_ns = 10'000;
  // Share of time, in millionths, that sampling may be on once the first window is over.
  uint32_t duty_ppm = 1'000'000;
  // Share of one core, in millionths, that the sampler may use on average; windows shorten to it.
  // 0 = no limit. What is not charged, looking for other profilers above all, is up to 0.5 % more,
  // and the burst is a loan: together below 5 % from a minute and a half on.
  uint32_t cpu_budget_ppm = 42'000;
  // CPU time that the sampler may spend ahead of its budget, so that short runs are sampled well.
  uint64_t cpu_burst_ns = 2'000'000'000;
  // What counters that are set may cost a GPU whose clock is limited by power, in millionths of the
  // time; where windows are planned. 0 = no limit.
  uint32_t power_loss_ppm = 0;
  // Sample every GPU from the start. Otherwise the only GPU of a machine is sampled from the start,
  // and of several only those that SamplerClient::UseDevice names.
  bool all_devices = false;
  // Windows begin when the collector says so (kSamplerWindowAt), within the same budgets, and not
  // by themselves.
  bool planned_windows = false;
  // false: NVML totals alone, no counters taken (--counters=none or range).
  bool counters = true;
  // A libcupti to use instead of the trusted list's; must be named by the user, never by a target.
  std::string cupti_path;
  // Another folder to search (library_search.h): the one that the profiled command is installed in.
  std::string program_prefix;
};

// The arguments after "sampler" on the command line, and back. Unknown arguments are refused.
std::vector<std::string> SamplerArguments(const SamplerOptions& options);
absl::StatusOr<SamplerOptions> ParseSamplerArguments(const std::vector<std::string>& arguments);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_OPTIONS_H_
