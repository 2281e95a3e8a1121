// A run whose counters are known exactly, for tests.
#ifndef UTLZ_TESTS_SUPPORT_COUNTED_RUN_H_
#define UTLZ_TESTS_SUPPORT_COUNTED_RUN_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_builder.h"

namespace utlz {

inline void AddMetric(MetricSet* set, const char* name, MetricRole role, const char* unit,
                      double peak_per_cycle = 0) {
  MetricSet::Metric* metric = set->add_metric();
  metric->set_name(name);
  metric->set_role(role);
  metric->set_unit(unit);
  metric->set_resolution(1);
  metric->set_peak_per_cycle(peak_per_cycle);
}

// What one pass counts: DRAM's bytes, and how busy the SMs and one of their pipes are.
inline MetricSet CountedSet(uint32_t id, const std::string& device_uuid, uint64_t interval_ns,
                            const char* pipe_name = "tensor.sum",
                            MetricRole pipe = METRIC_TENSOR_ACTIVE) {
  MetricSet set;
  set.set_id(id);
  set.set_device_uuid(device_uuid);
  set.set_interval_ns(interval_ns);
  AddMetric(&set, "dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte");
  AddMetric(&set, "dram__bytes_write.sum", METRIC_DRAM_WRITE_BYTES, "byte");
  AddMetric(&set, pipe_name, pipe, "cycle", 400);
  AddMetric(&set, "sm__cycles_active.sum", METRIC_SM_CYCLES_ACTIVE, "cycle", 100);
  AddMetric(&set, "gpc__cycles_elapsed.max", METRIC_SM_CYCLES_ELAPSED, "cycle");
  return set;
}

// A run of two kernels whose rates are exactly known: A reads at 4 bytes a nanosecond and keeps the
// tensor pipes half busy, B writes at 1 byte a nanosecond. More GPUs do the same at the same times.
class CountedRun {
 public:
  static constexpr uint64_t kRepetitions = 400;
  static constexpr uint64_t kKernelNs = 40'000;
  static constexpr uint64_t kStepNs = 103'000;
  static constexpr uint64_t kIntervalNs = 5000;

  // `third` is the role of the counter that runs as the tensor pipe's activity does.
  explicit CountedRun(const SummaryOptions& options = {},
                      const std::string& name = "nvjet_sm90_tst_a",
                      MetricRole third = METRIC_TENSOR_ACTIVE)
      : run_(options) {
    run_.StartRun();
    AddDevice('A', 5e9, 1000, name, third);
  }

  // Of process 1 the first, 2 the second …; all run at 1 GHz, of at most 2.
  void AddDevice(char uuid, double dram_bytes_per_second, double flops_per_cycle,
                 const std::string& name = "nvjet_sm90_tst_a",
                 MetricRole third = METRIC_TENSOR_ACTIVE) {
    uuids_.push_back(RunBuilder::Uuid(uuid));
    tensor_shares_.push_back(0.5);
    const auto source = static_cast<uint32_t>(uuids_.size());
    run_.StartProcess(source, uuids_.back());
    SendPeaks(dram_bytes_per_second, flops_per_cycle);
    run_.SendKernels({name, "copy_b"}, source);
    run_.Send(0, FRAME_METRIC_SET,
              CountedSet(source, uuids_.back(), kIntervalNs, "third.sum", third));
  }

  // By the order in which GPUs were added.
  void SetBus(size_t gpu, const std::string& pci_bus) {
    peaks_[gpu].set_pci_bus(pci_bus);
    run_.Send(0, FRAME_DEVICE_PEAKS, peaks_[gpu]);
  }

  RunBuilder& frames() { return run_; }

  // The GPU that was added last keeps its tensor pipes this busy in A.
  void TensorShare(double share) { tensor_shares_.back() = share; }

  // Launches are recorded in these repetitions only; the GPU works, and is sampled, in all.
  void TraceOnly(uint32_t first, uint32_t end) {
    first_traced_ = first;
    end_traced_ = end;
    run_.SendWindow(first * kStepNs, end * kStepNs);
  }

  // Tracing pauses at repetition `pause` and goes on at `open`. The GPU works on: what it does up
  // to `first` was launched before, and is not recorded.
  void PauseTracing(uint32_t pause, uint32_t open, uint32_t first) {
    pause_ = pause;
    open_ = open;
    first_after_pause_ = first;
  }

  // Tracing went on to the end, but what was recorded from this repetition on never came.
  void LoseRecordsFrom(uint32_t end) {
    end_traced_ = end;
    run_.SendWindow(0, 0);
  }

  // From this repetition on launches of B have no record, though the GPU runs them.
  void LeaveOutSecondFrom(uint32_t first) { first_left_out_ = first; }

  // Before this repetition the GPU has nothing to do.
  void WorkFrom(uint32_t first) { first_traced_ = first_working_ = first; }

  // A counter wraps: this sample has so many bytes read beside what it should have.
  void MisreadSample(uint64_t sample, double bytes) {
    misread_sample_ = sample;
    misread_bytes_ = bytes;
  }

  // Samples end before this repetition.
  void SampleUntil(uint64_t end) { end_sampled_ = end; }

  // From this repetition on one kernel that no sample meets does all the work.
  void LateKernelFrom(uint32_t first) {
    SampleUntil(first);
    first_late_ = first;
  }

  // From this repetition on it runs after the others, for a shorter time.
  void LateKernelBesideFrom(uint32_t first) {
    LateKernelFrom(first);
    beside_ = true;
  }

  static constexpr uint64_t kLateKernelNs = 100'000;
  static constexpr uint64_t kKernelBesideNs = 10'000;

  void SendWork() {
    for (uint32_t source = 1; source <= uuids_.size(); ++source) {
      SendSamples(source);
      if (pause_ < kRepetitions) run_.SendWindow(0, 0, source);
      if (first_late_ < kRepetitions) run_.SendKernels({"late"}, source, 132, 0, 2);
      // Each repetition a launch of one graph, and so a step.
      for (uint32_t i = first_traced_; i < end_traced_; ++i) {
        if (i == pause_) {
          run_.SendWindow(0, pause_ * kStepNs, source);
          run_.SendWindow(open_ * kStepNs, kRepetitions * kStepNs, source);
        }
        if (i >= pause_ && i < first_after_pause_) continue;
        if (i >= first_late_ && beside_) {
          run_.SendLaunches({RunBuilder::LaunchAt(i * kStepNs, kKernelNs, 0),
                             RunBuilder::LaunchAt(i * kStepNs + 50'000, kKernelNs, 1),
                             RunBuilder::LaunchAt(i * kStepNs + 91'000, kKernelBesideNs, 2)},
                            source, 7, i + 1);
          continue;
        }
        if (i >= first_late_) {
          run_.SendLaunches({RunBuilder::LaunchAt(i * kStepNs, kLateKernelNs, 2)}, source, 7,
                            i + 1);
          continue;
        }
        if (i >= first_left_out_) {
          run_.SendLaunches({RunBuilder::LaunchAt(i * kStepNs, kKernelNs, 0)}, source, 7, i + 1);
          continue;
        }
        run_.SendLaunches({RunBuilder::LaunchAt(i * kStepNs, kKernelNs, 0),
                           RunBuilder::LaunchAt(i * kStepNs + 50'000, kKernelNs, 1)},
                          source, 7, i + 1);
      }
    }
  }

  Summary Run() {
    SendWork();
    return run_.EndRun(kRepetitions * kStepNs);
  }

 private:
  void SendPeaks(double dram_bytes_per_second, double flops_per_cycle) {
    DevicePeaks peaks;
    peaks.set_device_uuid(uuids_.back());
    peaks.set_multiprocessors(100);
    peaks.set_sm_clock_maximum_hz(2e9);
    peaks.set_dram_bytes_per_second(dram_bytes_per_second);
    DevicePeaks::Pipe* pipe = peaks.add_pipe();
    pipe->set_data_type("bf16");
    pipe->set_flops_per_cycle(flops_per_cycle);
    run_.Send(0, FRAME_DEVICE_PEAKS, peaks);
    peaks_.push_back(std::move(peaks));
  }

  void SendSamples(uint32_t source) {
    SampleBatch batch;
    batch.set_metric_set(source);
    batch.set_device_uuid(uuids_[source - 1]);
    batch.set_base_ns(kRunStartNs);
    batch.set_interval_ns(kIntervalNs);
    for (int i = 0; i < 5; ++i) batch.add_column();
    int64_t last[5] = {};
    const uint64_t samples = end_sampled_ * kStepNs / kIntervalNs;
    for (uint64_t i = 0; i < samples; ++i) {
      const bool works = i * kIntervalNs >= first_working_ * kStepNs;
      const double a = works ? Overlap(i * kIntervalNs, (i + 1) * kIntervalNs, 0) : 0;
      const double b = works ? Overlap(i * kIntervalNs, (i + 1) * kIntervalNs, 1) : 0;
      const double misread = i == misread_sample_ ? misread_bytes_ : 0;
      const double values[] = {4 * a + misread, b, tensor_shares_[source - 1] * a * 400,
                               (a + b) * 100, double{kIntervalNs}};
      for (int column = 0; column < 5; ++column) {
        const auto value = static_cast<int64_t>(values[column]);
        batch.mutable_column(column)->add_delta(value - last[column]);
        last[column] = value;
      }
    }
    batch.set_samples(static_cast<uint32_t>(samples));
    run_.Send(0, FRAME_SAMPLES, batch);
  }

  // Nanoseconds of [0, end) in which kernel `which` of some repetition runs.
  static double BusyUntil(uint64_t end, uint64_t which) {
    const uint64_t phase = end % kStepNs;
    const uint64_t begin = which * 50'000;
    const uint64_t in_last = phase > begin ? std::min(phase - begin, kKernelNs) : 0;
    return static_cast<double>(end / kStepNs * kKernelNs + in_last);
  }

  static double Overlap(uint64_t start, uint64_t end, uint64_t which) {
    return BusyUntil(end, which) - BusyUntil(start, which);
  }

  RunBuilder run_;
  std::vector<std::string> uuids_;
  std::vector<DevicePeaks> peaks_;
  std::vector<double> tensor_shares_;
  uint32_t first_working_ = 0;
  uint32_t first_traced_ = 0;
  uint32_t end_traced_ = kRepetitions;
  uint32_t first_late_ = kRepetitions;
  uint32_t first_left_out_ = kRepetitions;
  bool beside_ = false;
  uint64_t misread_sample_ = 0;
  double misread_bytes_ = 0;
  uint32_t pause_ = kRepetitions;
  uint32_t open_ = kRepetitions;
  uint32_t first_after_pause_ = kRepetitions;
  uint64_t end_sampled_ = kRepetitions;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_COUNTED_RUN_H_
