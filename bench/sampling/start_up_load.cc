#include "bench/sampling/start_up_load.h"

#include <algorithm>
#include <string>

namespace utlz {
namespace {

constexpr uint64_t kCompilingNs = 600'000'000;
constexpr uint64_t kTuningNs = 400'000'000;
constexpr uint32_t kTrials = 30;
constexpr double kTuningGapNs = 5000;
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
      random_(options.seed) {
  next_ = Next();
}

void StartUpLoad::Take(uint64_t until_ns, std::vector<LoadLaunch>* launches) {
  while (next_.start_ns < until_ns) {
    launches->push_back(next_);
    next_ = Next();
  }
}

double StartUpLoad::TimeShare(uint32_t kernel) const {
  const auto times = static_cast<double>(std::count(step_.begin(), step_.end(), kernel));
  return times * kernels_[kernel].time_ns / step_kernel_ns_;
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
  const double idle_ns =
      std::max(0.0, static_cast<double>(options_.step_ns) - step_kernel_ns_);
  const uint32_t kernel = step_[place_];
  place_ = (place_ + 1) % step_.size();
  return Launch(kernel, idle_ns / static_cast<double>(step_.size()));
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
