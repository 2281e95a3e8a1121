#include "bench/sampling/sample_frames.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/sampling/launch_frames.h"
#include "collector/sampler/counters/sample_batch_encoder.h"

namespace utlz {
namespace {

// Kept for windows that are read later.
constexpr uint64_t kKeptNs = 1'000'000'000;
// An idle GPU's multiprocessors are active for less than this share (WindowActivity).
constexpr double kIdleShare = 0.002;

uint32_t IdOf(SampledSet set) { return 1 + static_cast<uint32_t>(set); }

}  // namespace

SampleFrames::SampleFrames(const RecordedLoad& recorded, RunIntake* intake)
    : recorded_(recorded), intake_(intake), uuid_(recorded.device.uuid()) {
  uuid_.resize(16, 'G');
}

template <typename Message>
void SampleFrames::Send(FrameType type, const Message& message) {
  intake_->Consume(0, static_cast<uint16_t>(type), message.SerializeAsString());
}

void SampleFrames::Begin() {
  DevicePeaks peaks = recorded_.peaks;
  peaks.set_device_uuid(uuid_);
  Send(FRAME_DEVICE_PEAKS, peaks);
  SamplerStatus status;
  status.set_device_uuid(uuid_);
  status.set_time_ns(kSimulationStartNs);
  status.set_counter_source(SOURCE_SAMPLED);
  Send(FRAME_SAMPLER_STATUS, status);
  AnnounceSet(SampledSet::kBase);
  AnnounceSet(SampledSet::kExtended);
  AnnounceSet(SampledSet::kInstructions);
}

// What the other sets have beyond the base set is left out: no goal speaks of it.
void SampleFrames::AnnounceSet(SampledSet set) {
  MetricSet message;
  message.set_id(IdOf(set));
  message.set_device_uuid(uuid_);
  message.set_chip(recorded_.peaks.chip());
  message.set_interval_ns(SampledWindow{.set = set}.interval_ns());
  AddSampledMetrics(recorded_.device.multiprocessors(), &message);
  Send(FRAME_METRIC_SET, message);
}

void SampleFrames::Ran(const LoadLaunch& launch) {
  launches_.push_back(launch);
  while (launches_.front().end_ns + kKeptNs < launch.start_ns) launches_.pop_front();
}

// `from`: the first launch that may reach into the time; moves on with it.
MetricValues SampleFrames::Between(uint64_t start_ns, uint64_t end_ns, size_t* from) const {
  MetricValues sum{};
  while (*from < launches_.size() && launches_[*from].end_ns <= start_ns) ++*from;
  for (size_t i = *from; i < launches_.size() && launches_[i].start_ns < end_ns; ++i) {
    const LoadLaunch& launch = launches_[i];
    const auto overlap_ns = static_cast<double>(std::min(end_ns, launch.end_ns)) -
                            static_cast<double>(std::max(start_ns, launch.start_ns));
    const double life_ns = static_cast<double>(launch.end_ns - launch.start_ns);
    if (overlap_ns <= 0 || life_ns <= 0) continue;
    const MetricValues values = ValuesOf(launch.work.Scaled(overlap_ns / life_ns));
    for (size_t counter = 0; counter < sum.size(); ++counter) sum[counter] += values[counter];
  }
  return sum;
}

SampledWork SampleFrames::Sampled(const SampledWindow& window) {
  std::vector<double> resolutions;
  for (const SampledMetric& metric : kSampledMetrics) resolutions.push_back(metric.resolution);
  const uint64_t interval_ns = window.interval_ns();
  SampleBatchEncoder encoder(IdOf(window.set), uuid_, interval_ns, resolutions);
  encoder.StartWindow();
  SampledWork result;
  MetricValues left{};
  double active_cycles = 0;
  double elapsed_cycles = 0;
  size_t from = 0;
  for (uint64_t now_ns = window.begin_ns; now_ns + interval_ns <= window.end_ns;
       now_ns += interval_ns) {
    MetricValues values = Between(now_ns, now_ns + interval_ns, &from);
    values[kElapsedCycles] =
        recorded_.peaks.sm_clock_maximum_hz() * 1e-9 * static_cast<double>(interval_ns);
    active_cycles += values[kActiveCycles];
    elapsed_cycles += values[kElapsedCycles];
    for (size_t counter = 0; counter < values.size(); ++counter) {
      const double whole = values[counter] + left[counter];
      values[counter] = std::floor(whole / resolutions[counter]) * resolutions[counter];
      left[counter] = whole - values[counter];
    }
    encoder.Add(kSimulationStartNs + now_ns, kSimulationStartNs + now_ns + interval_ns, values);
    ++result.samples;
  }
  result.busy = active_cycles > kIdleShare * elapsed_cycles * recorded_.device.multiprocessors();
  any_ = any_ || result.samples > 0;
  Send(FRAME_SAMPLES, encoder.Take());
  return result;
}

}  // namespace utlz
