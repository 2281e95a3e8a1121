// One set of counters: passes, cost of a sample, memory, and the sums of what its windows counted.
//
//   metric_set_cost [--chip GH100] [--windows N] [--window-ns N] [--interval-ns N]
//                   [--image-bytes N] [--buffer-bytes N] METRIC...
//
// Prints one line of JSON; "resident_kb" is what the process held at most by then. With --chip it
// only asks CUPTI's host library how many passes the set takes, which needs no GPU; without, it
// samples the first GPU while something else runs on it.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "collector/clocks.h"
#include "collector/sampler/counters/metric_selection.h"
#include "collector/sampler/counters/pm_sampler.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "collector/sampler/driver/cupti_table.h"
#include "collector/sampler/driver/library_search.h"

namespace utlz {
namespace {

struct Arguments {
  std::string chip;
  uint64_t windows = 10;
  uint64_t window_ns = 20'000'000;
  PmSamplerOptions options;
  uint64_t interval_ns = kUsualIntervalNs;
  std::vector<std::string> metrics;
};

Arguments ParseArguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--chip") {
      arguments.chip = value;
    } else if (word == "--windows") {
      arguments.windows = std::strtoull(value, nullptr, 10);
    } else if (word == "--window-ns") {
      arguments.window_ns = std::strtoull(value, nullptr, 10);
    } else if (word == "--interval-ns") {
      arguments.interval_ns = std::strtoull(value, nullptr, 10);
    } else if (word == "--image-bytes") {
      arguments.options.image_bytes = std::strtoull(value, nullptr, 10);
    } else if (word == "--buffer-bytes") {
      arguments.options.hardware_buffer_bytes = std::strtoull(value, nullptr, 10);
    } else {
      arguments.metrics.emplace_back(word);
      continue;
    }
    ++i;
  }
  return arguments;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

struct Measured {
  uint64_t samples = 0;
  uint64_t lost = 0;
  uint64_t cpu_ns = 0;
  uint64_t sampled_ns = 0;
  std::vector<double> sums;
  long loaded_kb = 0;  // resident: with the libraries, with the counters taken, after all windows
  long configured_kb = 0;
  long sampled_kb = 0;
};

long ResidentKb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void WaitUntil(uint64_t time_ns) {
  const timespec until{.tv_sec = static_cast<time_t>(time_ns / 1'000'000'000),
                       .tv_nsec = static_cast<long>(time_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

absl::Status SampleOneWindow(uint64_t window_ns, PmSampler* sampler, Measured* measured) {
  if (absl::Status status = sampler->Start(); !status.ok()) return status;
  WaitUntil(MonotonicNs() + window_ns);
  const uint64_t cpu_before_ns = ProcessCpuNs();
  if (absl::Status status = sampler->Stop(); !status.ok()) return status;
  const absl::StatusOr<WindowResult> window =
      sampler->Read([&](uint64_t start_ns, uint64_t end_ns, std::span<const double> values) {
        measured->sampled_ns += end_ns - start_ns;
        for (size_t i = 0; i < values.size(); ++i) measured->sums[i] += values[i];
      });
  measured->cpu_ns += ProcessCpuNs() - cpu_before_ns;
  if (!window.ok()) return window.status();
  measured->samples += window->samples;
  measured->lost += window->lost;
  return absl::OkStatus();
}

void Print(const Arguments& arguments, const std::string& chip, size_t passes,
           const Measured& measured) {
  std::printf("{\"chip\": \"%s\", \"passes\": %zu", chip.c_str(), passes);
  if (measured.samples != 0) {
    std::printf(
        ", \"samples\": %llu, \"lost\": %llu, \"cpu_us_per_sample\": %.2f, "
        "\"sampled_ns\": %llu, \"resident_kb\": {\"loaded\": %ld, \"configured\": %ld, "
        "\"sampled\": %ld}, \"sums\": {",
        static_cast<unsigned long long>(measured.samples),
        static_cast<unsigned long long>(measured.lost),
        static_cast<double>(measured.cpu_ns) * 1e-3 / static_cast<double>(measured.samples),
        static_cast<unsigned long long>(measured.sampled_ns), measured.loaded_kb,
        measured.configured_kb, measured.sampled_kb);
    for (size_t i = 0; i < measured.sums.size(); ++i) {
      std::printf("%s\"%s\": %.0f", i == 0 ? "" : ", ", arguments.metrics[i].c_str(),
                  measured.sums[i]);
    }
    std::printf("}");
  }
  std::printf("}\n");
}

int Run(const Arguments& arguments) {
  if (arguments.metrics.empty()) {
    return Fail(absl::InvalidArgumentError("name the metrics, with their rollup"));
  }
  const absl::StatusOr<CuptiTable> table = LoadCupti(FindCupti({.own_folder = OwnFolder()}).paths);
  if (!table.ok()) return Fail(table.status());
  if (!arguments.chip.empty()) {
    const absl::StatusOr<size_t> passes =
        CuptiPassCounter(*table, arguments.chip, {})(arguments.metrics);
    if (!passes.ok()) return Fail(passes.status());
    Print(arguments, arguments.chip, *passes, {});
    return 0;
  }
  const absl::StatusOr<CudaDriver> driver = LoadCudaDriver();
  if (!driver.ok()) return Fail(driver.status());
  const absl::StatusOr<std::vector<CudaDevice>> devices = ListCudaDevices(*driver);
  if (!devices.ok()) return Fail(devices.status());
  absl::StatusOr<std::unique_ptr<PmSampler>> sampler = PmSampler::Create(*table, arguments.options);
  if (!sampler.ok()) return Fail(sampler.status());
  const absl::StatusOr<size_t> passes =
      CuptiPassCounter(*table, (*sampler)->chip(), (*sampler)->availability())(arguments.metrics);
  if (!passes.ok()) return Fail(passes.status());
  Measured measured;
  measured.sums.resize(arguments.metrics.size());
  if (*passes == 1) {
    SelectedMetrics set;
    for (const std::string& name : arguments.metrics) {
      set.push_back({METRIC_SM_CYCLES_ELAPSED, name, "", 1});
    }
    measured.loaded_kb = ResidentKb();
    absl::Status status = (*sampler)->Configure(set, arguments.interval_ns);
    measured.configured_kb = ResidentKb();
    for (uint64_t i = 0; status.ok() && i < arguments.windows; ++i) {
      status = SampleOneWindow(arguments.window_ns, sampler->get(), &measured);
    }
    measured.sampled_kb = ResidentKb();
    if (!status.ok()) return Fail(status);
  }
  Print(arguments, (*sampler)->chip(), *passes, measured);
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) { return utlz::Run(utlz::ParseArguments(argc, argv)); }
