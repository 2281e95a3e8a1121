#include "bench/alarms/simulated_days.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "collector/alarms/alarm_watch.h"

namespace utlz {
namespace {

// Seconds in a row that come from the recording as they were, so that what follows on each other
// there does so here.
constexpr size_t kPiece = 8;
constexpr uint64_t kStartNs = 1'000'000'000'000;

class SimulatedJob {
 public:
  SimulatedJob(const RecordedPace& pace, uint64_t seed) : pace_(pace), random_(seed) {
    readings_.now_ns = kStartNs;
    readings_.devices.push_back({.uuid = "GPU-0", .known_ns = kStartNs, .busy = 1});
    readings_.processes.push_back({.source = 1, .pid = 1, .held_since_ns = kStartNs});
    readings_.step_seconds = 1;
  }

  // The next second or so; `speed` below one makes kernels slow, each by the same factor.
  const Readings& Advance(double speed) {
    if (left_ == 0) {
      at_ = std::uniform_int_distribution<size_t>(0, pace_.all.size() - 1)(random_);
      left_ = kPiece;
    }
    --left_;
    const PaceStep& step = pace_.all[at_];
    at_ = (at_ + 1) % pace_.all.size();
    // The same work takes longer.
    const auto time_ns = static_cast<uint64_t>(step.time_ns / speed);
    readings_.now_ns += time_ns;
    DeviceReading& device = readings_.devices[0];
    device.known_ns += time_ns;
    device.kernel_ns += step.kernel_ns / speed;
    device.counted_ns += step.counted_ns / speed;
    device.peak_ns += step.peak_ns;
    ProcessReading& process = readings_.processes[0];
    process.operations += step.operations;
    process.operations_ns = process.known_ns = process.last_work_ns = readings_.now_ns;
    return readings_;
  }
  double operations() const { return readings_.processes[0].operations; }
  double seconds() const { return static_cast<double>(readings_.now_ns - kStartNs) * 1e-9; }

 private:
  const RecordedPace& pace_;
  std::mt19937_64 random_;
  Readings readings_;
  size_t at_ = 0;
  size_t left_ = 0;
};

}  // namespace

std::map<std::string, int> AlarmsInHours(const RecordedPace& pace, double hours, uint64_t seed) {
  std::map<std::string, int> raised;
  SimulatedJob job(pace, seed);
  AlarmWatch watch;
  while (job.seconds() < hours * 3600) {
    for (const Alarm& alarm : watch.Look(job.Advance(1)))
      raised[alarm.name()] += alarm.end_ns() == 0;
  }
  return raised;
}

std::optional<double> SecondsToAlarm(const RecordedPace& pace, double fall, uint64_t seed) {
  constexpr double kBefore = 600;
  constexpr double kPatience = 300;
  SimulatedJob job(pace, seed);
  AlarmWatch watch;
  while (job.seconds() < kBefore + static_cast<double>(seed % 10)) watch.Look(job.Advance(1));
  const double fell = job.seconds();
  while (job.seconds() < fell + kPatience) {
    for (const Alarm& alarm : watch.Look(job.Advance(1 - fall))) {
      if (alarm.end_ns() == 0) return job.seconds() - fell;
    }
  }
  return std::nullopt;
}

double BlockScatter(const RecordedPace& pace, uint64_t seed) {
  constexpr int kBlocks = 2000;
  constexpr double kBlockSeconds = 5;
  SimulatedJob job(pace, seed);
  std::vector<double> rates;
  for (int i = 0; i < kBlocks; ++i) {
    const double begin = job.seconds();
    const double before = job.operations();
    while (job.seconds() < begin + kBlockSeconds) job.Advance(1);
    rates.push_back((job.operations() - before) / (job.seconds() - begin));
  }
  double mean = 0;
  for (const double rate : rates) mean += rate / kBlocks;
  double variance = 0;
  for (const double rate : rates) variance += (rate - mean) * (rate - mean) / kBlocks;
  return std::sqrt(variance) / mean;
}

}  // namespace utlz
