// Writes the profile of a long run that never was: make_large_profile OUT LAUNCHES VARIANTS
//
// Everything but the GPU is real: frames go through the recorder of `utlz run` (model, profile
// writer, summary at the end), launches and samples in their wire encodings. A tenth of the time
// has counter samples, so that attribution has its share of the work.
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "collector/profile/profile_writer.h"
#include "collector/sampler/counters/sample_batch_encoder.h"
#include "collector/session/checkpoint_schedule.h"
#include "collector/session/run_recorder.h"
#include "proto/profile.pb.h"
#include "tests/support/launch_encoder.h"

namespace utlz {
namespace {

constexpr uint64_t kStartNs = 1'700'000'000'000'000'000;
constexpr uint32_t kLaunchesPerBatch = 4096;
constexpr uint64_t kSampleNs = 5000;
constexpr uint64_t kCycleNs = 10'000'000'000;  // of sampling on and off
constexpr uint64_t kSampledNs = 1'000'000'000;
constexpr double kBytesPerNs = 2000;
const std::string kUuid(16, 'G');

class LongRun {
 public:
  LongRun(RunRecorder* recorder, uint32_t variants)
      : recorder_(recorder),
        variants_(variants),
        samples_(1, kUuid, kSampleNs, {32, 32, 1, 1, 1}) {}

  void Begin();
  void Launch(uint32_t launches);
  Summary End();

 private:
  template <typename Message>
  void Record(uint32_t source, FrameType type, const Message& message) {
    recorder_->Record(source, static_cast<uint16_t>(type), message.SerializeAsString());
  }
  void AnnounceKernels();
  void AnnounceCounters();
  void Sample();
  static CheckpointSchedule::Clock::time_point RunTime(uint64_t time_ns) {
    return CheckpointSchedule::Clock::time_point(std::chrono::nanoseconds(time_ns - kStartNs));
  }
  uint32_t Random() { return mixed_ = mixed_ * 1664525u + 1013904223u; }

  RunRecorder* recorder_;
  uint32_t variants_;
  SampleBatchEncoder samples_;
  CheckpointSchedule checkpoints_{RunTime(kStartNs)};
  uint64_t now_ns_ = kStartNs;
  uint64_t sampled_until_ns_ = kStartNs;
  uint32_t mixed_ = 1;
  uint32_t next_ = 0;
};

void LongRun::Begin() {
  RunStart start;
  start.set_time_ns(kStartNs);
  start.add_command("generated load, no measurement");
  Record(0, FRAME_RUN_START, start);
  Process process;
  process.set_pid(1000);
  process.set_start_time_ns(kStartNs);
  Record(1, FRAME_PROCESS, process);
  Device device;
  device.set_uuid(kUuid);
  device.set_name("generated load");
  device.set_multiprocessors(132);
  Record(1, FRAME_DEVICE, device);
  Context context;
  context.set_id(1);
  Record(1, FRAME_CONTEXT, context);
  AnnounceKernels();
  AnnounceCounters();
}

void LongRun::AnnounceKernels() {
  Strings strings;
  strings.set_first(1);
  Variants variants;
  for (uint32_t i = 0; i < variants_; ++i) {
    strings.add_values("_ZN2at6native29vectorized_elementwise_kernelILi" + std::to_string(i) +
                       "ENS0_15FunctorOnOpaqueIfEEEEvT0_");
    variants.add_name(i + 1);
    variants.add_grid_x(132 + i % 7);
    variants.add_grid_y(1);
    variants.add_grid_z(1);
    variants.add_block_x(128);
    variants.add_block_y(1);
    variants.add_block_z(1);
  }
  Record(1, FRAME_STRINGS, strings);
  Record(1, FRAME_VARIANTS, variants);
}

void LongRun::AnnounceCounters() {
  MetricSet set;
  set.set_id(1);
  set.set_device_uuid(kUuid);
  set.set_interval_ns(kSampleNs);
  struct Counter {
    const char* name;
    MetricRole role;
    const char* unit;
    double resolution;
    double peak_per_cycle;
  };
  for (const Counter& counter : {
           Counter{"dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte", 32, 0},
           Counter{"dram__bytes_write.sum", METRIC_DRAM_WRITE_BYTES, "byte", 32, 0},
           Counter{"sm__pipe_tensor_cycles_active.sum", METRIC_TENSOR_ACTIVE, "cycle", 1, 528},
           Counter{"sm__cycles_active.sum", METRIC_SM_CYCLES_ACTIVE, "cycle", 1, 132},
           Counter{"sm__cycles_elapsed.max", METRIC_SM_CYCLES_ELAPSED, "cycle", 1, 0},
       }) {
    MetricSet::Metric* metric = set.add_metric();
    metric->set_name(counter.name);
    metric->set_role(counter.role);
    metric->set_unit(counter.unit);
    metric->set_resolution(counter.resolution);
    metric->set_peak_per_cycle(counter.peak_per_cycle);
  }
  Record(0, FRAME_METRIC_SET, set);
}

// Steps of a quarter of the variants in a fixed order, like phases of training.
void LongRun::Launch(uint32_t launches) {
  DecodedLaunches decoded;
  decoded.launches.reserve(launches);
  const uint32_t step = variants_ / 4 + 1;
  for (uint32_t i = 0; i < launches; ++i, ++next_) {
    const uint32_t phase = next_ / (step * 1000) % 4;
    const uint32_t variant = (phase * step + next_ % step) % variants_;
    const uint64_t duration_ns = 2000 + 3 * variant + (Random() >> 26);
    decoded.launches.push_back({now_ns_, now_ns_ + duration_ns, variant, 0});
    now_ns_ += duration_ns + 500 + (Random() >> 27);
  }
  decoded.segments.push_back({launches, 7, 1, 0});
  Record(1, FRAME_LAUNCHES, EncodeLaunches(decoded));
  Sample();
  if (!checkpoints_.Due(RunTime(now_ns_))) return;
  recorder_->BeginCheckpoint();
  recorder_->CatchUpWithAll();
}

void LongRun::Sample() {
  while (sampled_until_ns_ + kSampleNs <= now_ns_) {
    const uint64_t in_cycle_ns = (sampled_until_ns_ - kStartNs) % kCycleNs;
    if (in_cycle_ns >= kSampledNs) {
      sampled_until_ns_ += kCycleNs - in_cycle_ns;
      samples_.StartWindow();
      continue;
    }
    const double bytes = kBytesPerNs * kSampleNs * (0.9 + 0.2 * (Random() >> 8) / (1 << 24));
    const double values[] = {0.6 * bytes, 0.4 * bytes, 0.3 * 528 * 8500, 0.8 * 132 * 8500, 8500};
    samples_.Add(sampled_until_ns_, sampled_until_ns_ + kSampleNs, values);
    sampled_until_ns_ += kSampleNs;
  }
  if (samples_.has_news()) Record(0, FRAME_SAMPLES, samples_.Take());
}

Summary LongRun::End() {
  ProcessEnd process_end;
  process_end.set_how("exit");
  Record(1, FRAME_PROCESS_END, process_end);
  RunEnd end;
  end.set_time_ns(now_ns_);
  end.set_exit_status(0);
  return recorder_->Finish(std::move(end));
}

int Main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: make_large_profile OUT LAUNCHES VARIANTS\n");
    return 2;
  }
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(argv[1]);
  if (!writer.ok()) {
    std::fprintf(stderr, "%s\n", std::string(writer.status().message()).c_str());
    return 1;
  }
  RunRecorder recorder(*std::move(writer));
  LongRun run(&recorder, static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)));
  run.Begin();
  const uint64_t launches = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t done = 0; done < launches; done += kLaunchesPerBatch) run.Launch(kLaunchesPerBatch);
  const Summary summary = run.End();
  std::printf("%" PRIu64 " launches, %d kernels, %.0f s of GPU time\n",
              summary.capture().launches(), summary.kernels_size(),
              static_cast<double>(summary.run().wall_ns()) / 1e9);
  return recorder.write_failure() ? 1 : 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) { return utlz::Main(argc, argv); }
