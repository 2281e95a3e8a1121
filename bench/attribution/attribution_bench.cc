// Launches a second that the attribution engine takes on one core, samples of 5 us beside them.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>

#include "collector/attribution/engine.h"

namespace utlz::attribution {
namespace {

constexpr int64_t kSampleNs = 5000;

Options FiveCounters() {
  Options options;
  options.counters = {{"dram read", "dram_read"},
                      {"dram write", "dram_write"},
                      {"tensor cycles", "sm"},
                      {"sm active", "sm"},
                      {"sm elapsed", "sm"}};
  options.warmup_samples = 16'384;
  return options;
}

// Feeds launches of `spacing_ns` until `end_ns`, of `variants` kinds, with their samples.
void Feed(Engine* engine, int64_t* now_ns, int64_t end_ns, int64_t spacing_ns, uint64_t variants) {
  uint64_t variant = 0;
  int64_t sample_ns = *now_ns - *now_ns % kSampleNs;
  for (; *now_ns < end_ns; *now_ns += spacing_ns) {
    engine->AddInterval(variant++ % variants, IntervalKind::kKernel, *now_ns,
                        *now_ns + spacing_ns - 100);
    for (; sample_ns < *now_ns; sample_ns += kSampleNs) {
      const std::array<double, 5> values = {1e7 + static_cast<double>(sample_ns % 977), 1e6, 4000,
                                            9000, 9500};
      engine->AddSample(sample_ns, sample_ns + kSampleNs, values);
    }
  }
  engine->AdvanceTo(*now_ns);
}

// Arguments: nanoseconds from launch to launch, variants.
void Launches(benchmark::State& state) {
  const int64_t spacing_ns = state.range(0);
  const auto variants = static_cast<uint64_t>(state.range(1));
  Engine engine(FiveCounters());
  int64_t now_ns = 1'000'000'000;
  // Past the warm-up, whose shift search is paid once.
  Feed(&engine, &now_ns, now_ns + 100'000'000, spacing_ns, variants);
  constexpr int64_t kBatchNs = 10'000'000;
  int64_t launches = 0;
  for (auto step : state) {
    Feed(&engine, &now_ns, now_ns + kBatchNs, spacing_ns, variants);
    launches += kBatchNs / spacing_ns;
  }
  state.SetItemsProcessed(launches);
  state.counters["x_real_time"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kBatchNs * 1e-9, benchmark::Counter::kIsRate);
}
BENCHMARK(Launches)->ArgsProduct({{1000, 5000, 50'000}, {20, 200}})->Unit(benchmark::kMillisecond);

void Solve(benchmark::State& state) {
  Engine engine(FiveCounters());
  int64_t now_ns = 1'000'000'000;
  Feed(&engine, &now_ns, now_ns + 100'000'000, 5000, static_cast<uint64_t>(state.range(0)));
  for (auto step : state) benchmark::DoNotOptimize(engine.Solve());
}
BENCHMARK(Solve)->Arg(20)->Arg(200)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace utlz::attribution
