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
// Of sixteen GPUs, one after the other.
constexpr uint64_t kMostLeadNs = 4'000'000'000;

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
  plan.sampled = true;
  plan.begin_ns = plan.set_ns = std::max(now_ns, begin_ns - kSwitchingNs);
  const uint64_t length_ns =
      begin_ns - plan.begin_ns + std::min(window_ns, kLongestSamplingNs) + kStoppingNs;
  plan.end_ns = plan.begin_ns + InWholeSteps(length_ns);
  plan.read_ns = plan.end_ns + kReadingNs;
  Sampled(begin_ns, &plan);
  return DeviceWindow{device_uuid, plan.begin_ns, plan.end_ns, 0};
}

WindowPlanner::Members WindowPlanner::MembersOf(const DeviceGroup& group) {
  Members members;
  for (const std::string& uuid : group.uuids) {
    if (devices_.size() >= kMostDevices && !devices_.contains(uuid)) continue;
    members.emplace_back(&uuid, &devices_[uuid]);
  }
  return members;
}

std::vector<DeviceWindow> WindowPlanner::Plan(uint64_t now_ns,
                                              const std::vector<DeviceGroup>& groups,
                                              const AgentsReady& agents_ready) {
  if (long_asked_ && !groups.empty()) return PlanLong(now_ns, groups);
  std::vector<DeviceWindow> windows;
  next_ns_ = now_ns + (groups.empty() ? kNoticeNs : kPauseNs);
  for (const DeviceGroup& group : groups) {
    const Members members = MembersOf(group);
    for (DeviceWindow& window : PlanGroup(now_ns, members, group.has_others, agents_ready)) {
      windows.push_back(std::move(window));
    }
    for (const auto& [uuid, plan] : members) {
      next_ns_ = std::min(next_ns_, plan->end_ns > now_ns ? plan->end_ns : IdleUntilNs(*plan));
    }
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
                                                  const std::vector<DeviceGroup>& groups) {
  long_asked_ = false;
  uint64_t begin_ns = now_ns + kNoticeNs;
  for (const auto& [uuid, plan] : devices_) {
    const bool under_way = plan.begin_ns <= begin_ns && now_ns < plan.end_ns;
    if (under_way) begin_ns = std::max(begin_ns, plan.read_ns);
  }
  std::vector<DeviceWindow> windows;
  uint64_t sampling_ns = begin_ns + kSwitchingNs;
  for (const DeviceGroup& group : groups) {
    for (const auto& [uuid, plan] : MembersOf(group)) {
      plan->begin_ns = plan->set_ns = begin_ns;
      plan->end_ns = begin_ns + kLongNs;
      plan->read_ns = plan->end_ns + kReadingNs;
      DeviceWindow window{*uuid, plan->begin_ns, plan->end_ns, 0};
      const uint64_t set_ns = sampling_ns + (plan->sampler ? plan->sampler->lead_ns : 0);
      const bool fits = plan->sampler && plan->sampler->ready_ns <= set_ns &&
                        set_ns + plan->sampler->window_ns + kStoppingNs <= plan->end_ns;
      plan->sampled = fits;
      if (fits) {
        window.sampling_begin_ns = set_ns;
        Sampled(set_ns, plan);
        sampling_ns = set_ns + plan->sampler->window_ns + kReadingNs;
        plan->sampler.reset();
      }
      windows.push_back(window);
    }
  }
  next_ns_ = begin_ns + kLongNs;
  return windows;
}

std::vector<DeviceWindow> WindowPlanner::PlanGroup(uint64_t now_ns, const Members& members,
                                                   bool has_others,
                                                   const AgentsReady& agents_ready) {
  if (!IsDue(now_ns, members)) return {};
  const GroupSampler sampler = TakeSamplers(now_ns, members);
  const uint64_t ready_ns = ReadyNs(now_ns, members, has_others, sampler, agents_ready);
  const bool sampled = !sampler.uuids.empty();
  const uint64_t length_ns =
      InWholeSteps(sampled ? kSwitchingNs + sampler.window_ns + kStoppingNs : kWindowNs);
  const uint64_t reading_ns = kReadingNs * std::max<size_t>(sampler.uuids.size(), 1);
  for (const auto& [uuid, plan] : members) plan->set_ns = plan->begin_ns = plan->read_ns = 0;
  const uint64_t begin_ns = AfterOthers(ready_ns, length_ns + reading_ns, sampler.lead_ns);
  std::vector<DeviceWindow> windows;
  for (const auto& [uuid, plan] : members) {
    plan->set_ns = begin_ns - sampler.lead_ns;
    plan->begin_ns = begin_ns;
    plan->end_ns = begin_ns + length_ns;
    plan->read_ns = plan->end_ns + reading_ns;
    plan->sampled = sampler.uuids.contains(*uuid);
    if (plan->sampled) Sampled(begin_ns, plan);
    windows.push_back({*uuid, begin_ns, plan->end_ns, plan->sampled ? begin_ns + kSwitchingNs : 0});
  }
  return windows;
}

uint64_t WindowPlanner::ReadyNs(uint64_t now_ns, const Members& members, bool has_others,
                                const GroupSampler& sampler, const AgentsReady& agents_ready) {
  const bool at_once = !sampler.uuids.empty() &&
                       std::all_of(members.begin(), members.end(), [&](const auto& member) {
                         return at_once_.contains(*member.first);
                       });
  const uint64_t notice_ns = std::max(at_once ? 0 : kNoticeNs, sampler.lead_ns);
  const uint64_t soonest_ns =
      std::clamp(sampler.ready_ns, now_ns + notice_ns, now_ns + kFurthestNs);
  uint64_t agents_ns = soonest_ns;
  if (!at_once) {
    for (const auto& [uuid, plan] : members) agents_ns = std::max(agents_ns, agents_ready(*uuid));
  }
  const uint64_t waited_ns = std::min(agents_ns, soonest_ns + kLongestWaitNs);
  const uint64_t dithered_ns = waited_ns + DitherNs(at_once ? kDitherAtOnceNs : kDitherNs);
  return has_others && !at_once ? CommonBeginNs(waited_ns, members.front().second->begin_ns)
                                : dithered_ns;
}

bool WindowPlanner::IsReadySoon(uint64_t now_ns, const DevicePlan& plan) const {
  return plan.sampler && plan.sampler->ready_ns <= now_ns + std::max(kSoonNs, pause_ns_);
}

// A sampler that has yet to read what it counted in the last window is waited for, but not for
// longer than processes wait that have none.
bool WindowPlanner::IsDue(uint64_t now_ns, const Members& members) const {
  bool any_soon = false;
  bool all_said = true;
  uint64_t idle_until_ns = 0;
  for (const auto& [uuid, plan] : members) {
    if (plan->begin_ns <= now_ns + kNoticeNs && now_ns < plan->end_ns) return false;
    any_soon = any_soon || IsReadySoon(now_ns, *plan);
    all_said = all_said && (!plan->sampled || plan->sampler);
    idle_until_ns = std::max(idle_until_ns, IdleUntilNs(*plan));
  }
  return !members.empty() && ((any_soon && all_said) || now_ns >= idle_until_ns);
}

WindowPlanner::GroupSampler WindowPlanner::TakeSamplers(uint64_t now_ns, const Members& members) {
  const auto is_to_sample = [&](const std::string& uuid, const DevicePlan& plan) {
    return IsReadySoon(now_ns, plan) && (!seldom_.contains(uuid) || now_ns >= plan.next_seldom_ns);
  };
  uint64_t first_ns = UINT64_MAX;
  for (const auto& [uuid, plan] : members) {
    if (is_to_sample(*uuid, *plan)) first_ns = std::min(first_ns, plan->sampler->ready_ns);
  }
  GroupSampler all;
  for (const auto& [uuid, plan] : members) {
    if (!is_to_sample(*uuid, *plan)) continue;
    const Sampler& one = *plan->sampler;
    if (one.ready_ns > std::max(first_ns, now_ns) + kTogetherNs) continue;
    all.ready_ns = std::max(all.ready_ns, one.ready_ns);
    all.window_ns = std::max(all.window_ns, one.window_ns);
    all.lead_ns = std::max(all.lead_ns, one.lead_ns);
    all.uuids.insert(*uuid);
    plan->sampler.reset();
  }
  return all;
}

// Of the intervals in which it may begin, the one whose number is a multiple of the highest power
// of two. A planner that needs longer pauses so has windows that are among those of the others. It
// is put off for no longer than the last window is ago. Where in the interval it begins depends on
// the number alone.
uint64_t WindowPlanner::CommonBeginNs(uint64_t ready_ns, uint64_t last_begin_ns) const {
  const uint64_t since_ns = last_begin_ns == 0 ? 0 : ready_ns - std::min(ready_ns, last_begin_ns);
  const uint64_t put_off_ns = std::clamp(since_ns, kCommonNs, kMostPutOffNs);
  const uint64_t realtime_ns = ready_ns + realtime_ahead_ns_;
  const uint64_t first = realtime_ns / kCommonNs + 1;
  uint64_t interval = (realtime_ns + put_off_ns) / kCommonNs;
  while ((interval & (interval - 1)) >= first) interval &= interval - 1;
  constexpr uint64_t kScramble = 0x9e3779b97f4a7c15;  // 2⁶⁴ by the golden ratio
  const uint64_t dither_ns = (interval * kScramble >> 32) % kDitherNs;
  return interval * kCommonNs + dither_ns - realtime_ahead_ns_;
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
void WindowPlanner::Sampled(uint64_t begin_ns, DevicePlan* plan) {
  uint64_t* const next_ns = &plan->next_seldom_ns;
  const uint64_t made_up_for_ns = (kMostMadeUpFor - 1) * kSeldomNs;
  const uint64_t oldest_ns =
      *next_ns != 0 ? begin_ns - std::min(begin_ns, made_up_for_ns) : begin_ns;
  *next_ns = std::clamp(*next_ns, oldest_ns, begin_ns) + kSeldomNs;
}

// Each step gets past one window at least, so that this ends.
uint64_t WindowPlanner::AfterOthers(uint64_t begin_ns, uint64_t busy_ns, uint64_t lead_ns) const {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [uuid, plan] : devices_) {
      if (begin_ns - lead_ns < plan.read_ns && plan.set_ns < begin_ns + busy_ns) {
        begin_ns = plan.read_ns + lead_ns;
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
