// How fast launches are decoded, and taken into the model.
#include <benchmark/benchmark.h>

#include <string>

#include "tests/support/run_builder.h"

namespace utlz {
namespace {

constexpr uint64_t kLaunches = 100'000;
constexpr uint32_t kVariants = 136;

// A repeating step with durations that jitter, as a decode loop leaves it.
std::vector<Launch> Loop() {
  std::vector<Launch> launches;
  uint64_t now = 0;
  for (uint64_t i = 0; i < kLaunches; ++i) {
    const auto variant = static_cast<uint32_t>(i % kVariants);
    const uint64_t duration = 2000 + 40 * variant + i * 7919 % 64;
    launches.push_back(RunBuilder::LaunchAt(now, duration, variant));
    now += duration + 500 + i * 104729 % 32;
  }
  return launches;
}

std::string Batch() {
  DecodedLaunches decoded;
  decoded.launches = Loop();
  decoded.segments.push_back(
      {.launches = kLaunches, .stream = 7, .context = 1, .graph_correlation = 0});
  return EncodeLaunches(decoded).SerializeAsString();
}

void DecodeLaunches(benchmark::State& state) {
  const std::string payload = Batch();
  LaunchDecoder decoder;
  for (auto _ : state) benchmark::DoNotOptimize(decoder.Decode(payload));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kLaunches));
}
BENCHMARK(DecodeLaunches);

void ConsumeLaunches(benchmark::State& state) {
  const std::string payload = Batch();
  for (auto _ : state) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    run.SendKernels(std::vector<std::string>(kVariants, "kernel"));
    run.intake().Consume(1, FRAME_LAUNCHES, payload);
    run.intake().EndOfInput();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kLaunches));
}
BENCHMARK(ConsumeLaunches);

}  // namespace
}  // namespace utlz

BENCHMARK_MAIN();
