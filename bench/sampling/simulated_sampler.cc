#include "bench/sampling/simulated_sampler.h"

#include <algorithm>

#include "collector/sampler/channel/sampler_command.h"

namespace utlz {
namespace {

constexpr uint64_t kTotalsPauseNs = 200'000'000;
// What the image of counter data holds, as a window's length (PmSampler::longest_window_ns).
constexpr uint64_t kLongestBaseWindowNs = 16'500'000;
constexpr uint64_t kLongestExtendedWindowNs = 9'000'000;
// A window that is about to begin stays as it is (CounterSession::RequestWindow).
constexpr uint64_t kSettledNs = 100'000'000;
// By the defaults (SamplerFeed::Start).
constexpr uint32_t kPowerLossPpm = 2500;

}  // namespace

SimulatedSampler::SimulatedSampler(const WindowScheduleOptions& options, const SamplerCosts& costs,
                                   bool blind_to_records)
    : costs_(costs),
      schedule_(options, 0),
      power_(kPowerLossPpm, 0),
      busy_until_ns_(costs.setup_ns) {
  power_.Set(0);
  cpu_ns_ = costs.setup_ns;
  blind_to_records ? schedule_.Spent(costs.setup_ns) : schedule_.SetUp(costs.setup_ns);
}

void SimulatedSampler::Spend(uint64_t cpu_ns) {
  schedule_.Spent(cpu_ns);
  cpu_ns_ += cpu_ns;
}

uint64_t SimulatedSampler::window_ns() const {
  return std::min(schedule_.window_ns(), configured_ == SampledSet::kBase
                                             ? kLongestBaseWindowNs
                                             : kLongestExtendedWindowNs);
}

std::optional<SampledWindow> SimulatedSampler::Step(uint64_t now_ns) {
  if (now_ns >= next_totals_ns_) {
    next_totals_ns_ = now_ns + kTotalsPauseNs;
    Spend(costs_.totals_ns);
  }
  if (busy_until_ns_.has_value()) {
    if (now_ns < *busy_until_ns_) return std::nullopt;
    busy_until_ns_.reset();
    GetReady(now_ns);
    return std::nullopt;
  }
  if (!window_.has_value() || now_ns < window_->end_ns) return std::nullopt;
  return window_;
}

void SimulatedSampler::Read(uint64_t now_ns, uint64_t samples, bool busy) {
  const uint64_t cpu_ns =
      costs_.window_ns + samples * (configured_ == SampledSet::kBase ? costs_.base_sample_ns
                                                                     : costs_.extended_sample_ns);
  const uint64_t on_ns = window_->end_ns - window_->begin_ns;
  cpu_ns_ += cpu_ns;
  sampled_ns_ += on_ns;
  if (busy && !schedule_.early()) turns_.BusyWindow();
  schedule_.Finished(now_ns + cpu_ns, on_ns, cpu_ns, !busy);
  window_.reset();
  busy_until_ns_ = now_ns + cpu_ns;
  if (turns_.next() != configured_) {
    configured_ = turns_.next();
    Spend(costs_.configure_ns);
    *busy_until_ns_ += costs_.configure_ns;
    power_.Set(now_ns);
  }
}

bool SimulatedSampler::IsToRest(uint64_t now_ns) const {
  if (rests_) return power_.IsLimited(now_ns);
  return power_.IsToGiveUp(now_ns, schedule_.next_start_ns(), announced_ns_);
}

void SimulatedSampler::GetReady(uint64_t now_ns) {
  window_.reset();
  power_.Advance(now_ns);
  if (IsToRest(now_ns) && !rests_) {
    power_.GivenUp(now_ns);
    rests_ = true;
  }
  ready_ns_ = std::max(now_ns, schedule_.next_start_ns());
  if (rests_) ready_ns_ = std::max(*ready_ns_, power_.AffordsAtNs(now_ns));
  announced_ns_ = *ready_ns_;
}

void SimulatedSampler::PowerLimits(uint64_t now_ns) {
  power_.Limited(now_ns);
  const bool waits = !busy_until_ns_.has_value() && !window_.has_value();
  if (waits && IsToRest(now_ns) != rests_) GetReady(now_ns);
}

void SimulatedSampler::Request(uint64_t now_ns) {
  const uint64_t before_ns = schedule_.next_start_ns();
  schedule_.RequestWindow(now_ns);
  GetReadySooner(now_ns, before_ns);
}

void SimulatedSampler::Progress(uint64_t now_ns, uint64_t progress) {
  turns_.BaseKnown((progress & kProgressBaseKnown) != 0);
  const uint64_t before_ns = schedule_.next_start_ns();
  schedule_.SetHurried(now_ns, (progress & kProgressPerhapsOnce) != 0);
  schedule_.SetSteady(now_ns, (progress & kProgressSteady) != 0);
  GetReadySooner(now_ns, before_ns);
}

void SimulatedSampler::GetReadySooner(uint64_t now_ns, uint64_t before_ns) {
  const bool settled = window_.has_value() && window_->begin_ns < now_ns + kSettledNs;
  if (busy_until_ns_.has_value() || settled || schedule_.next_start_ns() >= before_ns) return;
  GetReady(now_ns);
}

void SimulatedSampler::WindowAt(uint64_t begin_ns) {
  if (busy_until_ns_.has_value() || window_.has_value()) return;
  announced_ns_ = 0;
  if (rests_) {
    rests_ = false;
    Spend(costs_.configure_ns);
    power_.Set(begin_ns - costs_.configure_ns);
  }
  window_ = SampledWindow{begin_ns, begin_ns + window_ns(), configured_};
}

std::optional<uint64_t> SimulatedSampler::TakeReady() {
  std::optional<uint64_t> ready_ns = ready_ns_;
  ready_ns_.reset();
  return ready_ns;
}

}  // namespace utlz
