// How soon a report is good: recorded steps after a start-up, sampled by the real planner, pace and
// accounts on a simulated clock.
//
//   simulate_start [--start-up-s S] [--steps-s S] [--idle-cores N] [--seed N] [--recorded-s S]
//                  [--blind] [--set-up-s S] [--sample-us US] [--power-limited]
//                  PROFILE:STEP_MS[:LAUNCHING_MS]...
//
// --recorded-s: kernels are recorded for so long from the start, and never again. --blind: with
// a collector that does not know of that. LAUNCHING_MS: of a step, what it launches its kernels in,
// where it waits for its input before that. --power-limited: power limits the clock in the steps.
//
// Prints a row of a table for each profile. Nothing in it is a measurement: launches and rates are
// those of the recordings, what CUPTI's calls take is as measured on an H200 (SamplerCosts). With
// UTLZ_SIMULATION_KERNELS in the environment each look lists the kernels on standard error.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "bench/sampling/simulated_run.h"

namespace utlz {
namespace {

std::string Seconds(const std::optional<double>& seconds) {
  if (!seconds.has_value()) return "–";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", *seconds);
  return text;
}

uint64_t Nanoseconds(const char* text, double seconds) {
  return static_cast<uint64_t>(std::atof(text) * seconds * 1e9);
}

void Print(const std::string& path, const SimulationOptions& options,
           const SimulationResult& result) {
  const ReportPrecision& last = result.last;
  std::printf(
      "| %s | %.1f | %s | %s | %s | %s | %.1f, %.1f (%.1f) | %.1f | %.1f | %.2f, %.2f | "
      "%llu, %llu | %.1f | %.1f | %llu, %.1f | %llu | %.0f, %.0f | %.2f |\n",
      path.substr(path.rfind('/') + 1).c_str(),
      static_cast<double>(options.load.start_up_ns) * 1e-9, Seconds(result.first_bytes).c_str(),
      Seconds(result.all_bytes).c_str(), Seconds(result.good).c_str(),
      Seconds(result.better).c_str(), 100 * last.bytes, 100 * last.tensor_flops,
      100 * last.measured_flops, 100 * last.bytes_error, 100 * last.known_share,
      result.cpu_start_up_seconds, result.cpu_steps_seconds,
      static_cast<unsigned long long>(result.samples_start_up),
      static_cast<unsigned long long>(result.samples_steps), 100 * result.sampled_share,
      100 * result.traced_share, static_cast<unsigned long long>(result.samples_recorded),
      100 * result.recorded_share, static_cast<unsigned long long>(result.samples_useless),
      100 * last.bytes_share, 100 * last.flops_share, 100 * result.counters_cost_share);
  std::fflush(stdout);
}

int Simulate(const std::string& word, SimulationOptions options) {
  const std::vector<std::string> parts = absl::StrSplit(word, ':');
  const std::string& path = parts.front();
  if (parts.size() < 2) {
    std::fprintf(stderr, "name the length of a step: PROFILE:STEP_MS\n");
    return 2;
  }
  const absl::StatusOr<RecordedLoad> load = ReadRecordedLoad(path, UncountedKernels::kAssumed);
  if (!load.ok()) {
    std::fprintf(stderr, "%s\n", std::string(load.status().message()).c_str());
    return 1;
  }
  options.load.step_ns = Nanoseconds(parts[1].c_str(), 1e-3);
  if (parts.size() > 2) options.load.launching_ns = Nanoseconds(parts[2].c_str(), 1e-3);
  Print(path, options, SimulateRun(*load, options));
  return 0;
}

int Run(int argc, char** argv) {
  SimulationOptions options;
  std::printf(
      "| load | start-up, s | first bytes, s | all bytes, s | ± 10, ± 5 %%, s | ± 5, ± 4 %%, s | "
      "at the end ± %%: bytes, FLOPs (as measured) | true error of bytes, %% | time with bytes, %% "
      "| "
      "sampler CPU, s: start-up, steps | "
      "samples | sampled, %% of steps | traced, %% | samples of recorded steps, %% of their time | "
      "samples once records had ended | time of kernels within ± 10 %% bytes, ± 5 %% FLOPs, %% "
      "| counters cost, %% |\n");
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--start-up-s") {
      options.load.start_up_ns = Nanoseconds(value, 1);
    } else if (word == "--steps-s") {
      options.steps_ns = Nanoseconds(value, 1);
    } else if (word == "--idle-cores") {
      options.idle_cpu_ppm = static_cast<uint32_t>(std::atoi(value) / 8) * 1'000'000;
    } else if (word == "--recorded-s") {
      options.recorded_ns = Nanoseconds(value, 1);
    } else if (word == "--set-up-s") {
      options.costs.setup_ns = Nanoseconds(value, 1);
    } else if (word == "--sample-us") {
      options.costs.base_sample_ns = Nanoseconds(value, 1e-6);
    } else if (word == "--blind") {
      options.blind_to_records = true;
      continue;
    } else if (word == "--power-limited") {
      options.power_limited = true;
      continue;
    } else if (word == "--seed") {
      options.load.seed = std::strtoull(value, nullptr, 10);
    } else {
      if (const int status = Simulate(argv[i], options); status != 0) return status;
      continue;
    }
    ++i;
  }
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) { return utlz::Run(argc, argv); }
