// Hosts whose metrics are those of a recorded run, on GPUS GPUs each, through the real
// exporter: each on a port of its own, renewed every second until standard input ends.
//
//   simulated_hosts HOSTS GPUS PROFILE
//
// Prints a line for each host: "metrics: http://127.0.0.1:PORT/metrics". At its end it prints the
// processor time that it took.
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "collector/metrics/run_metrics.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"
#include "tools/exporter/exporter.h"

namespace utlz {
namespace {

// The last snapshot of the recorded run while its process lives.
MetricsSnapshot SnapshotOf(const std::string& profile) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(profile);
  if (!reader.ok()) {
    std::fprintf(stderr, "%s\n", std::string(reader.status().message()).c_str());
    std::exit(1);
  }
  RunIntake intake;
  RunMetrics metrics;
  MetricsSnapshot last;
  uint64_t next_ns = 0;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY || frame.type == FRAME_PROCESS_END) continue;
    if (frame.type == FRAME_RUN_END) break;
    intake.Consume(frame.source, frame.type, frame.payload);
    if (intake.state().NewestNs() < next_ns) continue;
    constexpr uint64_t kSecondNs = 1'000'000'000;
    next_ns = intake.state().NewestNs() + 5 * kSecondNs;
    metrics.RenewWorth(intake.Advance());
    metrics.RenewSteps(intake.Advance());
    last = metrics.Take(intake.Advance(), {});
  }
  return last;
}

bool IsOfGpu(const MetricSample& sample) {
  for (const auto& [name, value] : sample.labels) {
    if (std::string_view(name) == "UUID" || std::string_view(name) == "pid") return true;
  }
  return false;
}

MetricSample On(const MetricSample& sample, const std::string& host, int gpu, double factor) {
  MetricSample other = sample;
  other.value *= factor;
  for (auto& [name, value] : other.labels) {
    const std::string_view label = name;
    if (label == "Hostname") value = host;
    if (label == "UUID") value = "GPU-" + host + "-" + std::to_string(gpu);
    if (label == "gpu") value = std::to_string(gpu);
    if (label == "device") value = "nvidia" + std::to_string(gpu);
    if (label == "pid") value = std::to_string(1000 + gpu);
  }
  return other;
}

// One process a GPU; counters have grown by `factor`.
MetricsSnapshot OnHost(const MetricsSnapshot& recorded, const std::string& host, int gpus,
                       double factor) {
  MetricsSnapshot snapshot;
  for (size_t i = 0; i < kMetrics; ++i) {
    const bool grows = DescriptionOf(static_cast<Metric>(i)).type == MetricType::kCounter;
    for (const MetricSample& sample : recorded.samples[i]) {
      for (int gpu = 0; gpu < (IsOfGpu(sample) ? gpus : 1); ++gpu) {
        snapshot.samples[i].push_back(On(sample, host, gpu, grows ? factor : 1));
      }
    }
  }
  return snapshot;
}

bool InputEnds() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return poll(&input, 1, 1000) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

int Run(int hosts, int gpus, const std::string& profile) {
  const MetricsSnapshot recorded = SnapshotOf(profile);
  std::vector<std::unique_ptr<Exporter>> exporters;
  for (int i = 0; i < hosts; ++i) {
    auto exporter = Exporter::Start({.place = "0"}, [](const std::string& sentence) {
      std::printf("%s\n", sentence.c_str());
      std::fflush(stdout);
    });
    if (!exporter.ok()) return 1;
    exporters.push_back(*std::move(exporter));
  }
  for (double factor = 1; factor == 1 || !InputEnds(); factor += 0.1) {
    for (int i = 0; i < hosts; ++i) {
      exporters[static_cast<size_t>(i)]->Publish(
          OnHost(recorded, "host" + std::to_string(i), gpus, factor));
    }
  }
  timespec cpu = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  std::printf("cpu: %.3f\n",
              static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9);
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: simulated_hosts HOSTS GPUS PROFILE\n");
    return 2;
  }
  return utlz::Run(std::atoi(words[1]), std::atoi(words[2]), words[3]);
}
