#include "bench/diagnosis/sampler_writer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/diagnosis/sampled_metrics.h"
#include "collector/sampler/counters/sample_batch_encoder.h"

namespace utlz {
namespace {

constexpr uint64_t kTotalsNs = 200'000'000;
constexpr uint32_t kSamplesPerBatch = 4096;

}  // namespace

SamplerWriter::SamplerWriter(const PlannedRun& run, uint32_t index, const std::string& uuid,
                             std::vector<RecordingWindow> sampled, ProfileWriter* writer)
    : run_(run),
      rank_(run.ranks[index]),
      metric_set_(index + 1),
      uuid_(uuid),
      clock_hz_(run.peaks.sm_clock_maximum_hz() * rank_.clock_share),
      work_(run, rank_),
      sampled_(std::move(sampled)),
      writer_(writer) {}

void SamplerWriter::AnnounceDevice() {
  DevicePeaks peaks = run_.peaks;
  peaks.set_device_uuid(uuid_);
  peaks.set_sm_clock_hz(0);
  Write(FRAME_DEVICE_PEAKS, peaks);
  SamplerStatus status;
  status.set_device_uuid(uuid_);
  status.set_time_ns(kPlannedRunStartNs);
  status.set_counter_source(SOURCE_SAMPLED);
  Write(FRAME_SAMPLER_STATUS, status);
}

void SamplerWriter::AnnounceCounters() {
  MetricSet set;
  set.set_id(metric_set_);
  set.set_device_uuid(uuid_);
  set.set_chip(run_.peaks.chip());
  set.set_interval_ns(kSampleIntervalNs);
  AddSampledMetrics(run_.device.multiprocessors(), &set);
  Write(FRAME_METRIC_SET, set);
}

// A sample holds whole steps of its counter; what is left goes into the next one, so that a
// window's total is what was planned.
void SamplerWriter::WriteWindowOfSamples(const RecordingWindow& window) {
  std::vector<double> resolutions;
  for (const SampledMetric& metric : kSampledMetrics) resolutions.push_back(metric.resolution);
  SampleBatchEncoder encoder(metric_set_, uuid_, kSampleIntervalNs, resolutions);
  encoder.StartWindow();
  MetricValues left{};
  size_t from = 0;
  for (uint64_t now = window.start_ns; now < window.end_ns; now += kSampleIntervalNs) {
    MetricValues values = work_.Between(now, now + kSampleIntervalNs, &from);
    values[2] = clock_hz_ * 1e-9 * kSampleIntervalNs;
    for (size_t metric = 0; metric < values.size(); ++metric) {
      const double whole = values[metric] + left[metric];
      values[metric] = std::floor(whole / kSampledMetrics[metric].resolution) *
                       kSampledMetrics[metric].resolution;
      left[metric] = whole - values[metric];
    }
    const uint64_t start_ns = kPlannedRunStartNs + now;
    encoder.Add(start_ns, start_ns + kSampleIntervalNs, values);
    if (encoder.samples() == kSamplesPerBatch) Write(FRAME_SAMPLES, encoder.Take());
  }
  if (encoder.has_news()) Write(FRAME_SAMPLES, encoder.Take());
}

void SamplerWriter::WriteSamples(uint64_t until_ns) {
  for (; next_sampled_ < sampled_.size(); ++next_sampled_) {
    if (sampled_[next_sampled_].start_ns >= until_ns) return;
    WriteWindowOfSamples(sampled_[next_sampled_]);
  }
}

// What NVML says of the 0.2 s before.
void SamplerWriter::AddReading(uint64_t time_ns, DeviceTotalsBatch* totals) {
  const uint64_t before_ns = time_ns < kTotalsNs ? 0 : time_ns - kTotalsNs;
  size_t from = 0;
  const MetricValues sum = work_.Between(before_ns, time_ns, &from);
  const double busy_ns = work_.BusyNs(before_ns, time_ns, from);
  const double interval_ns = static_cast<double>(std::max<uint64_t>(1, time_ns - before_ns));
  const double multiprocessors = run_.device.multiprocessors();
  const double cycles = clock_hz_ * 1e-9 * interval_ns * multiprocessors;
  const double bytes = interval_ns * 1e-9 * run_.peaks.dram_bytes_per_second();
  const bool works = busy_ns > 0;
  const double watts = 110 + 500 * busy_ns / interval_ns;
  energy_joules_ += watts * 1e-9 * interval_ns;
  const uint64_t first_ns = rank_.launches.front().start_ns;
  const double grown = time_ns <= first_ns
                           ? 0
                           : std::min(1.0, static_cast<double>(time_ns - first_ns) /
                                               static_cast<double>(run_.end_ns - first_ns));
  totals->add_time_ns(kPlannedRunStartNs + time_ns);
  totals->add_gpu_busy_percent(100 * busy_ns / interval_ns);
  totals->add_memory_used_bytes(rank_.memory_bytes + grown * rank_.memory_growth_bytes);
  totals->add_power_milliwatts(1e3 * watts);
  totals->add_energy_millijoules(1e3 * energy_joules_);
  totals->add_sm_clock_mhz(1e-6 * (works ? clock_hz_ : run_.peaks.sm_clock_maximum_hz()));
  totals->add_memory_clock_mhz(1e-3 * run_.device.memory_clock_khz());
  totals->add_temperature_celsius(works ? 55 : 40);
  totals->add_clock_limit_reasons(works ? rank_.clock_limit_reasons : 1);
  totals->add_gpm_sm_active_percent(100 * std::min(1.0, sum[4] / cycles));
  totals->add_gpm_tensor_active_percent(100 * std::min(1.0, sum[3] / (4 * cycles)));
  totals->add_gpm_dram_active_percent(100 * std::min(1.0, (sum[0] + sum[1]) / bytes));
}

void SamplerWriter::WriteTotals(uint64_t until_ns) {
  DeviceTotalsBatch totals;
  totals.set_device_uuid(uuid_);
  for (; next_totals_ns_ < until_ns; next_totals_ns_ += kTotalsNs) {
    AddReading(next_totals_ns_, &totals);
  }
  if (totals.time_ns_size() > 0) Write(FRAME_DEVICE_TOTALS, totals);
}

void SamplerWriter::WriteUntil(uint64_t time_ns) {
  WriteSamples(time_ns);
  WriteTotals(time_ns);
}

}  // namespace utlz
