// From published frames to launches: how many a second one core takes in.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "collector/ingest/ring_reader.h"
#include "collector/model/launch_decoder.h"
#include "proto/profile.pb.h"
#include "tests/support/test_ring.h"

namespace utlz {
namespace {

constexpr uint32_t kLaunches = 4096;
constexpr uint32_t kVariants = 60;

// Like a training step: variants in a repeating order, durations and gaps that vary a little.
std::string StepBatch() {
  LaunchBatch batch;
  batch.set_base_ns(1'700'000'000'000'000'000);
  batch.set_launches(kLaunches);
  uint32_t mixed = 1;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    mixed = mixed * 1664525u + 1013904223u;
    const bool first = i < kVariants;
    batch.add_gap_residual(first ? 900 : static_cast<int64_t>(mixed >> 25));
    batch.add_duration_residual(first ? 20'000 + i : static_cast<int64_t>(mixed >> 24 & 0x7f) - 64);
    if (i > kVariants) continue;
    batch.add_run_predicted(0);
    batch.add_run_variant(1 + i % kVariants);
  }
  batch.add_run_predicted(kLaunches - kVariants - 1);
  batch.add_segment_launches(kLaunches);
  batch.add_segment_stream(7);
  batch.add_segment_context(1);
  batch.add_segment_correlation(0);
  return batch.SerializeAsString();
}

void RingToLaunches(benchmark::State& state) {
  TestRing ring({.data_bytes = 8 << 20});
  RingReader reader(RingMapping::Map(ring.fd(), ring.bytes()).value());
  LaunchDecoder decoder;
  const std::string batch = StepBatch();
  uint64_t launches = 0;
  for (auto _ : state) {
    state.PauseTiming();  // the producer is another process
    while (ring.Write(FRAME_LAUNCHES, batch)) {
    }
    state.ResumeTiming();
    RingFrame frame;
    while (reader.Next(&frame) == RingState::kFrame) {
      const DecodedLaunches* decoded = decoder.Decode(frame.payload);
      if (decoded == nullptr || decoded->launches.size() != kLaunches) {
        state.SkipWithError("the batch was refused");
        return;
      }
      launches += decoded->launches.size();
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(launches));
  state.counters["bytes_per_launch"] = static_cast<double>(batch.size()) / kLaunches;
}
BENCHMARK(RingToLaunches)->Unit(benchmark::kMillisecond);

void RingOnly(benchmark::State& state) {
  TestRing ring({.data_bytes = 8 << 20});
  RingReader reader(RingMapping::Map(ring.fd(), ring.bytes()).value());
  const std::string batch = StepBatch();
  for (auto _ : state) {
    state.PauseTiming();
    while (ring.Write(FRAME_LAUNCHES, batch)) {
    }
    state.ResumeTiming();
    RingFrame frame;
    while (reader.Next(&frame) == RingState::kFrame) benchmark::DoNotOptimize(frame);
  }
  state.SetItemsProcessed(static_cast<int64_t>(reader.frames() * kLaunches));
}
BENCHMARK(RingOnly)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace utlz

BENCHMARK_MAIN();
