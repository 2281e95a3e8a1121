#include "collector/session/window_planner.h"

#include <algorithm>
#include <utility>

namespace utlz {
namespace {

constexpr uint64_t kLongestSamplingNs = 500'000'000;
// Longer than the steps of most loads, so that windows begin anywhere in a step, whatever those
// before them met. Where all is recorded anyway, only samples need it.
constexpr uint64_t kDitherNs = 60'000'000;
constexpr uint64_t kDitherAtOnceNs = 20'000'000;
// A sampler that is ready later than this is asked again then.
constexpr uint64_t kFurthestNs = 600'000'000'000;
constexpr uint64_t kMostLeadNs = 2'000'000'000;

}  // namespace

void WindowPlanner::SamplerReady(const std::string& device_uuid, uint64_t ready_ns,
                                 uint64_t window_ns, uint64_t lead_ns) {
  devices_[device_uuid].sampler = {ready_ns, std::min(window_ns, kLongestSamplingNs),
                                   std::min(lead_ns, kMostLeadNs)};
  next_ns_ = 0;
}

std::optional<DeviceWindow> WindowPlanner::SamplerDecided(uint64_t now_ns,
                                                          const std::string& device_uuid,
                                                          uint64_t begin_ns, uint64_t window_ns) {
  if (devices_.size() >= kMostDevices && !devices_.contains(device_uuid)) return std::nullopt;
  DevicePlan& plan = devices_[device_uuid];
  const bool under_way = plan.begin_ns <= now_ns && now_ns < plan.end_ns;
  if (under_way || begin_ns < now_ns || begin_ns - now_ns > kFurthestNs) return std::nullopt;
  plan.sampler.reset();
  plan.begin_ns = plan.set_ns = std::max(now_ns, begin_ns - kSwitchingNs);
  const uint64_t length_ns =
      begin_ns - plan.begin_ns + std::min(window_ns, kLongestSamplingNs) + kStoppingNs;
  plan.end_ns = plan.begin_ns + InWholeSteps(length_ns);
  Sampled(device_uuid, begin_ns);
  return DeviceWindow{device_uuid, plan.begin_ns, plan.end_ns, 0};
}

std::vector<DeviceWindow> WindowPlanner::Plan(uint64_t now_ns,
                                              const std::vector<std::string>& uuids,
                                              const AgentsReady& agents_ready) {
  if (long_asked_ && !uuids.empty()) return PlanLong(now_ns, uuids);
  std::vector<DeviceWindow> windows;
  next_ns_ = now_ns + (uuids.empty() ? kNoticeNs : kPauseNs);
  for (const std::string& uuid : uuids) {
    if (devices_.size() >= kMostDevices && !devices_.contains(uuid)) continue;
    if (auto window = PlanDevice(now_ns, uuid, agents_ready)) {
      windows.push_back(*std::move(window));
    }
    const DevicePlan& plan = devices_[uuid];
    next_ns_ = std::min(next_ns_, plan.end_ns > now_ns ? plan.end_ns : IdleUntilNs(plan));
  }
  return windows;
}

void WindowPlanner::AskForLongWindow(uint64_t now_ns) {
  if (last_long_ns_ && now_ns < *last_long_ns_ + kLongPauseNs) return;
  last_long_ns_ = now_ns;
  long_asked_ = true;
  next_ns_ = 0;
}

// After what is under way. Whether they can pay for it is not asked: they owe it afterwards. The
// sampler reads one GPU after another.
std::vector<DeviceWindow> WindowPlanner::PlanLong(uint64_t now_ns,
                                                  const std::vector<std::string>& uuids) {
  long_asked_ = false;
  uint64_t begin_ns = now_ns + kNoticeNs;
  for (const auto& [uuid, plan] : devices_) {
    const bool under_way = plan.begin_ns <= begin_ns && now_ns < plan.end_ns;
    if (under_way) begin_ns = std::max(begin_ns, plan.end_ns + kReadingNs);
  }
  std::vector<DeviceWindow> windows;
  uint64_t sampling_ns = begin_ns + kSwitchingNs;
  for (const std::string& uuid : uuids) {
    if (devices_.size() >= kMostDevices && !devices_.contains(uuid)) continue;
    DevicePlan& plan = devices_[uuid];
    plan.begin_ns = plan.set_ns = begin_ns;
    plan.end_ns = begin_ns + kLongNs;
    DeviceWindow window{uuid, plan.begin_ns, plan.end_ns, 0};
    const uint64_t set_ns = sampling_ns + (plan.sampler ? plan.sampler->lead_ns : 0);
    const bool fits = plan.sampler && plan.sampler->ready_ns <= set_ns &&
                      set_ns + plan.sampler->window_ns + kStoppingNs <= plan.end_ns;
    if (fits) {
      window.sampling_begin_ns = set_ns;
      Sampled(uuid, set_ns);
      sampling_ns = set_ns + plan.sampler->window_ns + kReadingNs;
      plan.sampler.reset();
    }
    windows.push_back(window);
  }
  next_ns_ = begin_ns + kLongNs;
  return windows;
}

std::optional<DeviceWindow> WindowPlanner::PlanDevice(uint64_t now_ns, const std::string& uuid,
                                                      const AgentsReady& agents_ready) {
  DevicePlan& plan = devices_[uuid];
  const bool under_way = plan.begin_ns <= now_ns + kNoticeNs && now_ns < plan.end_ns;
  if (under_way) return std::nullopt;
  const bool soon = plan.sampler && plan.sampler->ready_ns <= now_ns + std::max(kSoonNs, pause_ns_);
  if (!soon && now_ns < IdleUntilNs(plan)) return std::nullopt;
  const bool sampled = soon && (!seldom_.contains(uuid) || now_ns >= plan.next_seldom_ns);
  const auto sampler = sampled ? std::exchange(plan.sampler, std::nullopt) : std::nullopt;
  const bool at_once = sampler && at_once_.contains(uuid);
  const uint64_t lead_ns = sampler ? sampler->lead_ns : 0;
  const uint64_t notice_ns = std::max(at_once ? 0 : kNoticeNs, lead_ns);
  const uint64_t soonest_ns =
      std::clamp(sampler ? sampler->ready_ns : 0, now_ns + notice_ns, now_ns + kFurthestNs);
  const uint64_t agents_ns = at_once ? soonest_ns : agents_ready(uuid);
  const uint64_t ready_ns = std::clamp(agents_ns, soonest_ns, soonest_ns + kLongestWaitNs) +
                            DitherNs(at_once ? kDitherAtOnceNs : kDitherNs);
  const uint64_t length_ns =
      InWholeSteps(sampler ? kSwitchingNs + sampler->window_ns + kStoppingNs : kWindowNs);
  plan.set_ns = plan.begin_ns = plan.end_ns = 0;
  const uint64_t begin_ns = AfterOthers(ready_ns, length_ns, lead_ns);
  plan.set_ns = begin_ns - lead_ns;
  plan.begin_ns = begin_ns;
  plan.end_ns = begin_ns + length_ns;
  if (sampler) Sampled(uuid, begin_ns);
  return DeviceWindow{uuid, begin_ns, plan.end_ns, sampler ? begin_ns + kSwitchingNs : 0};
}

uint64_t WindowPlanner::InWholeSteps(uint64_t length_ns) const {
  const uint64_t most_ns = kMostGrowth * length_ns;
  if (step_ns_ == 0 || step_ns_ > most_ns) return length_ns;
  const uint64_t whole_ns = (length_ns + step_ns_ - 1) / step_ns_ * step_ns_;
  return whole_ns <= most_ns ? whole_ns : length_ns;
}

uint64_t WindowPlanner::IdleUntilNs(const DevicePlan& plan) const {
  return std::max(begun_ns_, plan.end_ns) + pause_ns_;
}

// Windows that were due while the sampler was not ready are made up for. Before the first one none
// was due.
void WindowPlanner::Sampled(const std::string& uuid, uint64_t begin_ns) {
  uint64_t* const next_ns = &devices_[uuid].next_seldom_ns;
  const uint64_t made_up_for_ns = (kMostMadeUpFor - 1) * kSeldomNs;
  const uint64_t oldest_ns =
      *next_ns != 0 ? begin_ns - std::min(begin_ns, made_up_for_ns) : begin_ns;
  *next_ns = std::clamp(*next_ns, oldest_ns, begin_ns) + kSeldomNs;
}

// Each step gets past one window at least, so that this ends.
uint64_t WindowPlanner::AfterOthers(uint64_t begin_ns, uint64_t length_ns, uint64_t lead_ns) const {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [uuid, plan] : devices_) {
      if (begin_ns - lead_ns < plan.end_ns + kReadingNs &&
          plan.set_ns < begin_ns + length_ns + kReadingNs) {
        begin_ns = plan.end_ns + kReadingNs + lead_ns;
        moved = true;
      }
    }
  }
  return begin_ns;
}

// Uniform: xorshift.
uint64_t WindowPlanner::DitherNs(uint64_t most_ns) {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_ % most_ns;
}

}  // namespace utlz
