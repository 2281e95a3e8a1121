// What the counters of all collectors of a GPU say together is what the GPU did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "collector/metrics/run_metrics.h"
#include "tests/support/counted_run.h"
#include "tests/support/gpu_in_turns.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"
#include "tests/unit/metrics/sum_of_metric.h"

namespace utlz {
namespace {

constexpr uint64_t kLengthNs = 8000 * kMillisecondNs;
constexpr uint64_t kPeriodNs = 200 * kMillisecondNs;  // from one burst of samples to the next
constexpr uint64_t kBurstNs = 30 * kMillisecondNs;
constexpr uint64_t kSampleNs = 20'000;
// Until then kernels were met too seldom for interrupted launches to be told from others.
constexpr uint64_t kSettledNs = 4000 * kMillisecondNs;
constexpr double kClosely = 0.02;

WorkRate CountedIn(const MetricsSnapshot& snapshot) {
  return {.read_bytes = SumOf(snapshot, Metric::kDramReadBytes),
          .write_bytes = SumOf(snapshot, Metric::kDramWriteBytes),
          .tensor = SumOf(snapshot, Metric::kFlopsPeakSeconds) * 1e9};
}

// The collector of one of the programs: it has that one's launches, and samples of the whole GPU.
class Collector {
 public:
  // The program is traced for the first `traced_ns` of each period, in which samples are taken too.
  Collector(const GpuInTurns& gpu, const std::vector<KernelInTurns>& kernels, size_t program,
            uint64_t traced_ns = kPeriodNs)
      : gpu_(gpu), launches_(gpu.LaunchesOf(program)), traced_ns_(traced_ns) {
    run_.StartRun();
    run_.StartProcess();
    run_.SendPeaks();
    std::vector<std::string> names;
    for (const KernelInTurns& kernel : kernels) names.push_back(kernel.name);
    run_.SendKernels(names);
    SendMetricSet();
  }

  // What launches are counted at while [begin, end) passes, a second at a time.
  WorkRate CountBetween(uint64_t begin_ns, uint64_t end_ns) {
    GoOnTo(begin_ns);
    const WorkRate before = CountedIn(snapshot_);
    GoOnTo(end_ns);
    WorkRate counted = CountedIn(snapshot_);
    GpuInTurns::Add(before, -1, &counted);
    return counted;
  }

  const MetricsSnapshot& snapshot() const { return snapshot_; }

 private:
  void SendMetricSet() {
    run_.Send(0, FRAME_METRIC_SET, CountedSet(1, RunBuilder::Uuid(), kSampleNs));
  }

  void GoOnTo(uint64_t end_ns) {
    for (; now_ns_ < end_ns; now_ns_ += kPeriodNs) {
      SendProcessesOfGpu();
      SendSamples();
      SendWindow();
      if ((now_ns_ + kPeriodNs) % (1000 * kMillisecondNs) != 0) continue;
      const RunState& state = run_.intake().Advance();
      metrics_.RenewWorth(state);
      snapshot_ = metrics_.Take(state, {});
    }
  }

  void SendProcessesOfGpu() {
    DeviceTotalsBatch totals;
    totals.set_device_uuid(RunBuilder::Uuid());
    totals.add_time_ns(kRunStartNs + now_ns_ + 1);
    totals.set_compute_processes(GpuInTurns::kPrograms);
    run_.Send(0, FRAME_DEVICE_TOTALS, totals);
  }

  void SendSamples() {
    SampleBatch batch;
    batch.set_metric_set(1);
    batch.set_device_uuid(RunBuilder::Uuid());
    batch.set_base_ns(kRunStartNs + now_ns_);
    batch.set_interval_ns(kSampleNs);
    std::array<int64_t, 5> last{};
    for (size_t i = 0; i < last.size(); ++i) batch.add_column();
    for (uint64_t at_ns = now_ns_; at_ns < now_ns_ + kBurstNs; at_ns += kSampleNs) {
      const std::array<int64_t, 5> values = SampleAt(at_ns);
      for (size_t i = 0; i < values.size(); ++i) {
        batch.mutable_column(static_cast<int>(i))->add_delta(values[i] - last[i]);
      }
      last = values;
    }
    batch.set_samples(static_cast<uint32_t>(kBurstNs / kSampleNs));
    run_.Send(0, FRAME_SAMPLES, batch);
  }

  std::array<int64_t, 5> SampleAt(uint64_t at_ns) const {
    WorkRate work;
    double active_ns = 0;
    for (uint64_t i = at_ns / GpuInTurns::kCellNs; i * GpuInTurns::kCellNs < at_ns + kSampleNs;
         ++i) {
      GpuInTurns::Add(gpu_.cells()[i].work, 1, &work);
      active_ns += gpu_.cells()[i].active_ns;
    }
    return {static_cast<int64_t>(work.read_bytes), static_cast<int64_t>(work.write_bytes),
            static_cast<int64_t>(work.tensor * 400), static_cast<int64_t>(active_ns * 100),
            static_cast<int64_t>(kSampleNs)};
  }

  // What starts after the window's end is not recorded; CUPTI numbers it all the same.
  void SendWindow() {
    SendStatus();
    TraceWindow window;
    window.set_start_ns(kRunStartNs + now_ns_);
    window.set_flags(1);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    const std::vector<Launch> launches = LaunchesUntil(now_ns_ + traced_ns_);
    run_.SendLaunches(launches);
    recorded_ += launches.size();
    if (traced_ns_ >= kPeriodNs) return;
    window.set_end_ns(kRunStartNs + now_ns_ + traced_ns_);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    SendStatus();
    in_gaps_ += LaunchesUntil(now_ns_ + kPeriodNs).size();
  }

  void SendStatus() {
    AgentStatus status;
    status.set_time_ns(kRunStartNs + now_ns_);
    status.set_operations_recorded(recorded_);
    status.set_operations_numbered(recorded_ + in_gaps_);
    status.set_operations_in_gaps(in_gaps_);
    run_.Send(1, FRAME_AGENT_STATUS, status);
  }

  std::vector<Launch> LaunchesUntil(uint64_t end_ns) {
    std::vector<Launch> launches;
    while (next_ < launches_.size() && launches_[next_].start_ns < kRunStartNs + end_ns) {
      launches.push_back(launches_[next_++]);
    }
    return launches;
  }

  const GpuInTurns& gpu_;
  const std::vector<Launch>& launches_;
  RunBuilder run_;
  RunMetrics metrics_;
  MetricsSnapshot snapshot_;
  const uint64_t traced_ns_;
  size_t next_ = 0;
  uint64_t recorded_ = 0;
  uint64_t in_gaps_ = 0;
  uint64_t now_ns_ = 0;
};

// A training that multiplies matrices, and a decode that reads.
const std::array<std::vector<KernelInTurns>, GpuInTurns::kPrograms> kKernels = {
    {{{"nvjet_sm90_tst_a", 410e3, {0.9e3, 0.3e3, 0.8}},
      {"elementwise_kernel_a", 60e3, {2.1e3, 1.2e3, 0}},
      {"nvjet_sm90_tst_b", 170e3, {0.4e3, 0.5e3, 0.6}},
      {"reduce_kernel", 35e3, {1.6e3, 0.5e3, 0}},
      {"nvjet_sm90_tst_c", 540e3, {0.7e3, 0.2e3, 0.9}},
      {"elementwise_kernel_b", 110e3, {1.2e3, 1.4e3, 0}}},
     {{"gemv2T_kernel_a", 18e3, {2.2e3, 0.1e3, 0}},
      {"elementwise_kernel_c", 8e3, {0.4e3, 0.3e3, 0}},
      {"gemv2T_kernel_b", 21e3, {2.9e3, 0.1e3, 0}},
      {"elementwise_kernel_d", 10e3, {0.2e3, 0.1e3, 0}}}}};
constexpr double kGapNs = 700;

// What both collectors count, as shares of what the GPU did.
WorkRate CountedOfWhatWasDone(uint64_t traced_ns) {
  const GpuInTurns gpu(kKernels, kGapNs, 0.3, kLengthNs);
  WorkRate did, counted;
  for (size_t program = 0; program < GpuInTurns::kPrograms; ++program) {
    Collector collector(gpu, kKernels[program], program, traced_ns);
    const WorkRate one = collector.CountBetween(kSettledNs, kLengthNs);
    const WorkRate done = gpu.WorkOf(program, kSettledNs, kLengthNs);
    GpuInTurns::Add(one, 1, &counted);
    GpuInTurns::Add(done, 1, &did);
    EXPECT_EQ(SumOf(collector.snapshot(), Metric::kFlopsUncountedSeconds), 0);
    EXPECT_EQ(SumOf(collector.snapshot(), Metric::kDramUncountedSeconds), 0);
  }
  return {.read_bytes = counted.read_bytes / did.read_bytes,
          .write_bytes = counted.write_bytes / did.write_bytes,
          .tensor = counted.tensor / did.tensor};
}

void ExpectAll(const WorkRate& counted) {
  EXPECT_NEAR(counted.tensor, 1, kClosely);
  EXPECT_NEAR(counted.read_bytes, 1, kClosely);
  EXPECT_NEAR(counted.write_bytes, 1, kClosely);
}

TEST(Conservation, CollectorsOfProgramsThatTakeTurnsCountWhatTheGpuDid) {
  ExpectAll(CountedOfWhatWasDone(kPeriodNs));
}

TEST(Conservation, TheSameInWindows) { ExpectAll(CountedOfWhatWasDone(kPeriodNs / 4)); }

}  // namespace
}  // namespace utlz
