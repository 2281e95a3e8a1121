#include "bench/sampling/start_up_load.h"

#include <algorithm>
#include <string>

namespace utlz {
namespace {

constexpr uint64_t kCompilingNs = 600'000'000;
constexpr uint64_t kTuningNs = 400'000'000;
constexpr uint32_t kTrials = 30;
constexpr double kTuningGapNs = 5000;
constexpr double kTensorPipes = 4;  // of a multiprocessor
// Between kernels that the GPU has queued; what a step is idle beyond, it is so before its first
// kernel. A program whose GPU idles for more than the share below waits before each.
constexpr double kGapNs = 1200;
constexpr double kHostBound = 0.3;
// Relative standard deviations.
constexpr double kDurationJitter = 0.03;
constexpr double kWorkJitter = 0.02;
constexpr double kGapJitter = 0.3;

double StepKernelNs(const RecordedLoad& load) {
  double sum_ns = 0;
  for (const uint32_t kernel : load.step) sum_ns += load.kernels[kernel].time_ns;
  return sum_ns;
}

}  // namespace

StartUpLoad::StartUpLoad(const RecordedLoad& recorded, const StartUpOptions& options)
    : options_(options),
      step_(recorded.step),
      kernels_(recorded.kernels),
      step_kernels_(recorded.kernels.size()),
      step_kernel_ns_(StepKernelNs(recorded)),
      most_bytes_per_ns_(recorded.peaks.dram_bytes_per_second() * 1e-9),
      most_cycles_per_ns_(kTensorPipes * recorded.device.multiprocessors() *
                          recorded.peaks.sm_clock_maximum_hz() * 1e-9),
      random_(options.seed) {
  const double idle_ns = std::max(0.0, static_cast<double>(options.step_ns) - step_kernel_ns_);
  const double evenly_ns = idle_ns / static_cast<double>(step_.size());
  const bool host_bound = idle_ns > kHostBound * static_cast<double>(options.step_ns);
  gap_ns_ = host_bound ? evenly_ns : std::min(evenly_ns, kGapNs);
  if (options.launching_ns != 0) {
    const double waits_ns = static_cast<double>(options.launching_ns) - step_kernel_ns_;
    gap_ns_ = std::max(0.0, waits_ns) / static_cast<double>(step_.size());
  }
  pause_ns_ = idle_ns - gap_ns_ * static_cast<double>(step_.size());
  next_ = Next();
}

void StartUpLoad::Take(uint64_t until_ns, std::vector<LoadLaunch>* launches) {
  while (next_.start_ns < until_ns) {
    launches->push_back(next_);
    next_ = Next();
  }
}

double StartUpLoad::LaunchesPerStep(uint32_t kernel) const {
  return static_cast<double>(std::count(step_.begin(), step_.end(), kernel));
}

LoadLaunch StartUpLoad::Next() {
  if (now_ns_ < options_.start_up_ns) {
    if (now_ns_ >= tuning_until_ns_) {
      now_ns_ += kCompilingNs;
      tuning_until_ns_ = now_ns_ + kTuningNs;
      trials_left_ = 0;
    }
    if (now_ns_ < options_.start_up_ns) {
      ChooseCandidate();
      return Launch(candidate_, kTuningGapNs);
    }
  }
  const uint32_t kernel = step_[place_];
  const double gap_ns = place_ == 0 ? gap_ns_ + pause_ns_ : gap_ns_;
  place_ = (place_ + 1) % step_.size();
  return Launch(kernel, gap_ns);
}

void StartUpLoad::ChooseCandidate() {
  if (trials_left_ > 0) {
    --trials_left_;
    return;
  }
  RecordedKernel candidate = kernels_[step_[random_() % step_.size()]];
  candidate.name = "candidate_" + std::to_string(kernels_.size());
  candidate.short_name = candidate.name;
  candidate.time_ns *= std::uniform_real_distribution<double>(0.8, 3)(random_);
  candidate_ = static_cast<uint32_t>(kernels_.size());
  kernels_.push_back(std::move(candidate));
  trials_left_ = kTrials - 1;
}

LoadLaunch StartUpLoad::Launch(uint32_t kernel, double gap_ns) {
  now_ns_ += static_cast<uint64_t>(gap_ns * Jitter(kGapJitter));
  LoadLaunch launch;
  launch.start_ns = now_ns_;
  launch.kernel = kernel;
  launch.work = kernels_[kernel].work.Scaled(Jitter(kWorkJitter));
  now_ns_ += static_cast<uint64_t>(kernels_[kernel].time_ns * Jitter(kDurationJitter));
  launch.end_ns = now_ns_;
  return launch;
}

double StartUpLoad::Jitter(double relative) {
  return std::max(0.1, std::normal_distribution<double>(1, relative)(random_));
}

}  // namespace utlz
