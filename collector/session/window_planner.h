// Plans the windows in which a GPU's processes trace and its sampler counts: under an overhead
// budget neither can do so all the time, and one without the other is of little use. One window a
// GPU is under way or to come. Pure decisions on the times that callers pass, nanoseconds of
// CLOCK_MONOTONIC.
//
// GPUs whose processes compute together (device_groups.h) have their windows at the same time: a
// rank that tracing delays makes the others wait at the next collective, so the job pays for the
// longest delay of a window, and for the sum of them if each rank had a window of its own. Where
// some of the ranks are on other hosts, windows begin at times that each host's planner finds by
// itself, provided that their clocks agree within milliseconds. Windows of different groups do not
// overlap, since one sampler serves all GPUs and reads what it counted on one after the other.
//
// Windows last for whole steps of the job if steps are known and short. Each window then meets
// every part of a step once, and the collector divides what ran between windows as it was in them.
//
// Where a GPU's sampler is not ready, for whatever reason, or not soon, its processes are given
// windows all the same, seldomer: what they record may be what the sampler waits for, such as work
// that has become steady. Windows are dithered, so that they do not fall into step with a load.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_WINDOW_PLANNER_H_
#define UTLZ_COLLECTOR_SESSION_WINDOW_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/session/device_groups.h"

namespace utlz {

struct DeviceWindow {
  std::string device_uuid;
  uint64_t begin_ns = 0;  // for the processes
  uint64_t end_ns = 0;
  uint64_t sampling_begin_ns = 0;  // for the sampler; 0: it takes no part
};

class WindowPlanner {
 public:
  // Agents look for a window this often; two looks fit before it begins.
  static constexpr uint64_t kNoticeNs = 45'000'000;
  // Switching tracing on, and the sampler's stopping.
  static constexpr uint64_t kSwitchingNs = 2'000'000;
  static constexpr uint64_t kStoppingNs = 3'000'000;
  // A process that needs longer than this after the sampler is ready is not waited for.
  // In an attachment to a server it needs five seconds (inject/tracing/trace_budget.h).
  static constexpr uint64_t kLongestWaitNs = 6'000'000'000;
  // A sampler that is ready later than this is not waited for.
  static constexpr uint64_t kSoonNs = 3'000'000'000;
  // Without a sampler: what windows last, and the pause between them.
  static constexpr uint64_t kWindowNs = 25'000'000;
  static constexpr uint64_t kPauseNs = 1'000'000'000;
  // The same in an attachment, whose processes can pay for few windows: those that are sampled come
  // first.
  static constexpr uint64_t kAttachmentPauseNs = 5'000'000'000;
  // A window of whole steps costs a program more than a shorter one, so there are fewer windows,
  // and the sampler counts for the same short time in each. So the planner makes a window at most
  // so many times as long.
  static constexpr uint64_t kMostGrowth = 2;
  // A sampler that reads one GPU's window cannot end another's. It reads those of a group once all
  // have ended.
  static constexpr uint64_t kReadingNs = 100'000'000;
  // If the sampler is ready so much later on one GPU of a group than on another, it counts there in
  // a later window.
  static constexpr uint64_t kTogetherNs = 500'000'000;
  // Windows that planners of several hosts have in common begin in intervals of this length, by
  // CLOCK_REALTIME, and are put off for so long at most.
  static constexpr uint64_t kCommonNs = 250'000'000;
  static constexpr uint64_t kMostPutOffNs = 2'000'000'000;
  static constexpr uint64_t kSeldomNs = 5'000'000'000;
  // A sampler that was not ready for long makes up for this many of them at most.
  static constexpr uint64_t kMostMadeUpFor = 6;
  // A window that was asked for: long, on all GPUs at once, and not soon after another.
  static constexpr uint64_t kLongNs = 1'000'000'000;
  static constexpr uint64_t kLongPauseNs = 60'000'000'000;
  // Those beyond get no windows.
  static constexpr size_t kMostDevices = 64;

  WindowPlanner(uint64_t now_ns, uint64_t seed, uint64_t pause_ns = kPauseNs)
      : pause_ns_(pause_ns), begun_ns_(now_ns), random_state_(seed | 1) {}

  // The sampler can open a window of this length on the device, from `ready_ns` on, if it hears of
  // it `lead_ns` before: it sets the counters first. Any values are taken: they are bounded.
  void SamplerReady(const std::string& device_uuid, uint64_t ready_ns, uint64_t window_ns,
                    uint64_t lead_ns = 0);

  // The sampler, which others share, will open a window at `begin_ns`, whatever it was asked for:
  // what the processes on that GPU are to make of it. None where one is under way, or where it
  // lies too far ahead.
  std::optional<DeviceWindow> SamplerDecided(uint64_t now_ns, const std::string& device_uuid,
                                             uint64_t begin_ns, uint64_t window_ns);

  // On these GPUs one window in kSeldomNs is sampled, in the mean; the others only trace.
  void SampleSeldom(std::set<std::string> uuids) { seldom_ = std::move(uuids); }

  // On these GPUs every process is recorded throughout, and needs no notice of a window. Neither is
  // it asked whether its account can pay: kernels may soon be recorded no more.
  void SampleAtOnce(std::set<std::string> uuids) { at_once_ = std::move(uuids); }

  // CLOCK_REALTIME is so far ahead of CLOCK_MONOTONIC.
  void RealtimeIsAhead(uint64_t ns) { realtime_ahead_ns_ = ns; }

  // The job's steps take so long; 0: that is not known.
  void StepsTake(uint64_t step_ns) { step_ns_ = step_ns; }

  // The next windows are long ones, in which what every process does can be compared.
  void AskForLongWindow(uint64_t now_ns);

  // The windows that are new at `now_ns`; one that has not begun may be replaced. `groups`: the
  // GPUs in use. `agents_ready`: when all the processes on a GPU can pay for a window.
  using AgentsReady = std::function<uint64_t(const std::string& device_uuid)>;
  std::vector<DeviceWindow> Plan(uint64_t now_ns, const std::vector<DeviceGroup>& groups,
                                 const AgentsReady& agents_ready);

  // Plan() has something new now, as where work begins.
  void PlanSoon() { next_ns_ = 0; }

  // When Plan() may have something new, unless the sampler says something before.
  uint64_t next_ns() const { return next_ns_; }

 private:
  struct Sampler {
    uint64_t ready_ns = 0;
    uint64_t window_ns = 0;
    uint64_t lead_ns = 0;
  };
  struct DevicePlan {
    uint64_t set_ns = 0;  // from when on the sampler is busy with the window
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    uint64_t read_ns = 0;            // until when the sampler is
    uint64_t next_seldom_ns = 0;     // when the next may be sampled, where few are
    std::optional<Sampler> sampler;  // until it is asked when
    bool sampled = false;            // whether the sampler counts in the window
  };
  // GPUs of a group, by UUID.
  using Members = std::vector<std::pair<const std::string*, DevicePlan*>>;
  // What the samplers of those that are sampled in the group's next window said, taken together.
  struct GroupSampler : Sampler {
    std::set<std::string> uuids;
  };

  // The group's GPUs, but those beyond kMostDevices.
  Members MembersOf(const DeviceGroup& group);
  std::vector<DeviceWindow> PlanLong(uint64_t now_ns, const std::vector<DeviceGroup>& groups);
  std::vector<DeviceWindow> PlanGroup(uint64_t now_ns, const Members& members, bool has_others,
                                      const AgentsReady& agents_ready);
  // When processes and samplers of the group can begin a window.
  uint64_t ReadyNs(uint64_t now_ns, const Members& members, bool has_others,
                   const GroupSampler& sampler, const AgentsReady& agents_ready);
  // When the planners of all hosts have a window that could begin at `ready_ns`.
  uint64_t CommonBeginNs(uint64_t ready_ns, uint64_t last_begin_ns) const;
  bool IsReadySoon(uint64_t now_ns, const DevicePlan& plan) const;
  bool IsDue(uint64_t now_ns, const Members& members) const;
  // Those that count in the group's next window. Each is asked once.
  GroupSampler TakeSamplers(uint64_t now_ns, const Members& members);
  // The time of the fewest whole steps that take at least `length_ns`; `length_ns` itself if that
  // is more than kMostGrowth times as long.
  uint64_t InWholeSteps(uint64_t length_ns) const;
  // A window of the device is sampled at `begin_ns`.
  void Sampled(uint64_t begin_ns, DevicePlan* plan);
  // When a device whose sampler is silent gets its next window.
  uint64_t IdleUntilNs(const DevicePlan& plan) const;
  uint64_t AfterOthers(uint64_t begin_ns, uint64_t busy_ns, uint64_t lead_ns) const;
  uint64_t DitherNs(uint64_t most_ns);

  uint64_t pause_ns_;
  uint64_t begun_ns_;
  uint64_t next_ns_ = 0;
  uint64_t step_ns_ = 0;
  uint64_t realtime_ahead_ns_ = 0;
  uint64_t random_state_;
  bool long_asked_ = false;
  std::optional<uint64_t> last_long_ns_;  // when one was asked for
  std::map<std::string, DevicePlan> devices_;
  std::set<std::string> seldom_;
  std::set<std::string> at_once_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_WINDOW_PLANNER_H_
