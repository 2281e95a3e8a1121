// From published frames to launches: how many a second one core takes in.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "collector/decode/launch_decoder.h"
#include "collector/ingest/ring_reader.h"
#include "collector/profile/profile_writer.h"
#include "collector/session/run_recorder.h"
#include "proto/profile.pb.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_ring.h"

namespace utlz {
namespace {

constexpr uint32_t kLaunches = 4096;
constexpr uint32_t kVariants = 60;

constexpr uint64_t kBeginNs = 1'700'000'000'000'000'000;

// Like a training step: variants in a repeating order, durations and gaps that vary a little.
std::string StepBatch(uint64_t base_ns = kBeginNs) {
  LaunchBatch batch;
  batch.set_base_ns(base_ns);
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

// What a process says of itself before its launches.
void Introduce(RunRecorder* recorder) {
  Process process;
  process.set_pid(1);
  process.set_start_time_ns(kBeginNs);
  recorder->Record(1, FRAME_PROCESS, process.SerializeAsString());
  Device device;
  device.set_uuid(std::string(16, 'A'));
  recorder->Record(1, FRAME_DEVICE, device.SerializeAsString());
  Context context;
  context.set_id(1);
  recorder->Record(1, FRAME_CONTEXT, context.SerializeAsString());
  Strings strings;
  strings.set_first(1);
  Variants variants;
  variants.set_first(1);
  for (uint32_t i = 0; i < kVariants; ++i) {
    strings.add_values("kernel_" + std::to_string(i));
    variants.add_name(i + 1);
    variants.add_grid_x(132);
    variants.add_block_x(128);
  }
  recorder->Record(1, FRAME_STRINGS, strings.SerializeAsString());
  recorder->Record(1, FRAME_VARIANTS, variants.SerializeAsString());
}

// All that is done with a launch while a run goes on: into the model and into the profile.
void RingToProfile(benchmark::State& state) {
  constexpr uint64_t kBatches = 256;
  constexpr uint64_t kBatchNs = uint64_t{kLaunches} * 30'000;
  const TemporaryFolder folder;
  TestRing ring({.data_bytes = 8 << 20});
  RingReader reader(RingMapping::Map(ring.fd(), ring.bytes()).value());
  uint64_t launches = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (uint64_t i = 0; i < kBatches; ++i) {
      if (!ring.Write(FRAME_LAUNCHES, StepBatch(kBeginNs + i * kBatchNs))) {
        return state.SkipWithError("the ring is too small");
      }
    }
    RunRecorder recorder(ProfileWriter::Open(folder.File("run.utlz")).value());
    Introduce(&recorder);
    state.ResumeTiming();
    RingFrame frame;
    while (reader.Next(&frame) == RingState::kFrame) recorder.Record(1, frame.type, frame.payload);
    recorder.Flush();
    launches += kBatches * kLaunches;
    state.PauseTiming();
    RunEnd end;
    end.set_time_ns(kBeginNs + kBatches * kBatchNs);
    const Summary summary = recorder.Finish(end);
    if (summary.capture().launches() != kBatches * kLaunches) {
      return state.SkipWithError("launches were lost");
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(launches));
}
BENCHMARK(RingToProfile)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace utlz

BENCHMARK_MAIN();
