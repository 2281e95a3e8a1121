// What the agent does with a launch, from CUPTI's buffer to the ring: how many a second on one
// core.
//
// Instructions a launch, where the machine has no counters for Google Benchmark to read:
//   valgrind --tool=callgrind --toggle-collect='utlz::agent::Recorder::Consume*'
//       build/release/bin/bench_agent_encode --benchmark_min_time=0.1s
#include <benchmark/benchmark.h>
#include <unistd.h>

#include "bench/agent/activity_buffers.h"
#include "inject/record/recorder.h"

namespace utlz::agent {
namespace {

// The collector's part: room is given back at once, unread.
void GiveBack(RingWriter* ring) {
  RingHeader& header = *ring->header();
  header.consumer.read_position.store(
      header.producer.write_position.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void Encode(benchmark::State& state, Load load) {
  const ActivityBuffers buffers(load);
  RingWriter ring;
  const int file = ring.Create(kRingDefaultDataBytes);
  if (file < 0) return state.SkipWithError("no ring");
  close(file);
  CuptiApi cupti{};
  cupti.activity_get_next_record = ActivityBuffers::NextRecord;
  Recorder recorder;
  if (!recorder.Create(&ring, &cupti, false)) return state.SkipWithError("no memory");

  size_t next = 0;
  uint64_t launches = 0;
  for (auto _ : state) {
    recorder.Consume(buffers.Buffer(next), buffers.ValidBytes(next));
    GiveBack(&ring);
    launches += buffers.Launches(next);
    next = (next + 1) % ActivityBuffers::kBuffers;
  }
  recorder.Flush();
  if (recorder.counts().launches != launches) return state.SkipWithError("launches were lost");
  state.SetItemsProcessed(static_cast<int64_t>(launches));
  state.counters["time_per_launch"] = benchmark::Counter(
      static_cast<double>(launches), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["wire_bytes_per_launch"] =
      static_cast<double>(ring.bytes_written()) / static_cast<double>(launches);
}
BENCHMARK_CAPTURE(Encode, eager_decode, Load::kEagerDecode);
BENCHMARK_CAPTURE(Encode, graph_decode, Load::kGraphDecode);
BENCHMARK_CAPTURE(Encode, training, Load::kTraining);

}  // namespace
}  // namespace utlz::agent

BENCHMARK_MAIN();
