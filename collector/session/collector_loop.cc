#include "collector/session/collector_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/analysis/counter_precision.h"
#include "collector/clocks.h"
#include "collector/each_in_threads.h"
#include "collector/run/run_state.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/session/clock_reading.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestPause(2);
constexpr milliseconds kLongestPause(50);
constexpr milliseconds kFlushPeriod(500);
// On frames that came during a study, so that rings are read meanwhile.
constexpr milliseconds kLongestCatchUp(20);
// How long processes may outlive the command before the profile is closed over them, and how long
// their agents then have to hand over what they hold.
constexpr milliseconds kGrace(2000);
constexpr milliseconds kSleepGrace(500);

// Event data; smaller values are sources.
constexpr uint64_t kWakeTag = uint64_t{1} << 32;
constexpr uint64_t kListenerTag = kWakeTag + 1;
constexpr uint64_t kSamplerTag = kWakeTag + 2;

std::vector<KernelTime> KernelTimes(const RunState& run_state) {
  std::vector<KernelTime> times;
  times.reserve(run_state.kernels.kernels().size());
  for (const Kernel& kernel : run_state.kernels.kernels()) {
    times.push_back(
        {kernel.device, kernel.durations.sum_ns(), kernel.last_start_ns - kernel.first_start_ns});
  }
  return times;
}

bool Watch(int epoll, int fd, uint64_t tag) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

// Has a study call `find`, and then calls then(took_ns, found) on the collector's thread: how much
// processor time that took, and what it returned.
template <typename Find, typename Then>
void StudyTimed(RunRecorder* recorder, Find find, Then then) {
  struct Look {
    uint64_t took_ns = 0;
    std::invoke_result_t<Find, const RunState&> found{};
  };
  auto look = std::make_shared<Look>();
  recorder->Study(
      [look, find](const RunState& run_state) {
        const uint64_t cpu_before_ns = ThreadCpuNs();
        look->found = find(run_state);
        look->took_ns = ThreadCpuNs() - cpu_before_ns;
      },
      [look, then] { then(look->took_ns, look->found); });
}

std::optional<milliseconds> Duration(const SessionOptions& options) {
  if (!options.duration_ms) return std::nullopt;
  return milliseconds(*options.duration_ms);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CollectorLoop>> CollectorLoop::Make(const SessionOptions& options,
                                                                   AgentListener listener,
                                                                   ProfileWriter writer) {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll.valid() || !wake.valid() || !Watch(epoll.get(), wake.get(), kWakeTag) ||
      !Watch(epoll.get(), listener.fd(), kListenerTag)) {
    return absl::ErrnoToStatus(errno, "cannot set the collector up");
  }
  return std::unique_ptr<CollectorLoop>(new CollectorLoop(
      options, std::move(listener), std::move(writer), std::move(epoll), std::move(wake)));
}

CollectorLoop::CollectorLoop(const SessionOptions& options, AgentListener listener,
                             ProfileWriter writer, UniqueFd epoll, UniqueFd wake)
    : options_(options),
      listener_(std::move(listener)),
      recorder_(std::move(writer)),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      sampler_(
          [this](uint16_t type, std::string_view payload) { recorder_.Record(0, type, payload); },
          [this](const SamplerReady& ready) {
            planner_.SamplerReady(ready.device_uuid(),
                                  ClockReading::Now().ToMonotonicNs(ready.time_ns()),
                                  ready.window_ns(), ready.lead_ns());
          },
          [this](const SamplerWindow& window) {
            TraceAlong(window.device_uuid(), window.begin_ns(), window.window_ns());
          }),
      agents_(epoll_.get(), options,
              [this](uint32_t source, uint16_t type, std::string_view payload) {
                OnAgentFrame(source, type, payload);
              }),
      schedule_(Clock::now(), milliseconds(options.delay_ms), Duration(options)),
      calibration_(options.counters, options.overhead_budget_ppm),
      planner_(ClockReading::Now().monotonic_ns, RealtimeNs(),
               options.attached ? WindowPlanner::kAttachmentPauseNs : WindowPlanner::kPauseNs),
      pause_(kShortestPause),
      metrics_(options),
      live_(options.live_folder) {
  request_.trace_flags = options.trace_flags;
  request_.overhead_budget_ppm = options.overhead_budget_ppm;
  request_.state = schedule_.StateAt(Clock::now());
  agents_.Request(request_);
}

void CollectorLoop::Run() {
  if (!options_.sampler_executable.empty()) {
    const SamplingWindows windows = options_.overhead_budget_ppm == 0 ? SamplingWindows::kItsOwn
                                    : options_.attached               ? SamplingWindows::kFewPlanned
                                                                      : SamplingWindows::kPlanned;
    sampler_.Start(options_, windows);
    if (sampler_.fd() >= 0) Watch(epoll_.get(), sampler_.fd(), kSamplerTag);
  }
  ready_ = true;
  ready_.notify_all();
  while (!StoppingIsOver(Clock::now())) Turn(NextWait(Clock::now()));
  agents_.EndAll();
  sampler_.Stop();
  if (!options_.attached && !options_.of_service) recorder_.UseThreads(WorthwhileThreads());
  if (sampler_.has_samples()) {
    code_search_.Finish(recorder_.Advance(),
                        [this](const KernelCodeRecord& record) { RecordCode(record); });
  }
  recorder_.CountRefusedFrames(sampler_.refused_frames());  // after what was studied still
  cpu_ns_ = CpuNs();
}

void CollectorLoop::Turn(milliseconds wait) {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                               static_cast<int>(wait.count()));
  const Clock::time_point now = Clock::now();
  if (stop_ && !stop_asked_) stop_asked_ = now;
  const uint64_t answered = TakeInAdded(now);
  listener_.Poll(now, [this](AgentHandshake handshake) { agents_.Admit(std::move(handshake)); });
  for (int i = 0; i < count; ++i) Dispatch(events[static_cast<size_t>(i)].data.u64);
  const bool active = agents_.Drain() || recorder_.behind();
  const bool caught_up = recorder_.CatchUp(kLongestCatchUp);
  launches_ = recorder_.launches();  // those that waited for a study, too
  if (caught_up) next_flush_ = now;  // what was studied is shown at once
  live_agents_ = agents_.live();
  admitted_agents_ = agents_.admitted();
  handed_over_ -= answered;
  pause_ = active ? kShortestPause : std::min(2 * pause_, kLongestPause);
  ApplyRequest(now);
  Calibrate(now);
  LookForSteadyWork();
  agents_.ShareVotes();
  PlanWindows();
  if (now >= next_flush_) {
    PaceSampling();
    if (!recorder_.behind() && checkpoints_.Due(now)) recorder_.BeginCheckpoint();
    recorder_.Flush();
    PublishMetrics();
    SendSpending();
    live_.Serve(&recorder_, ClockReading::Now().monotonic_ns);
    LookAtSteps();  // last of those that study the run: nobody waits for it
    LookForCode();
    next_flush_ = now + kFlushPeriod;
  }
}

uint64_t CollectorLoop::CpuNs() const {
  return ThreadCpuNs() + recorder_.study_cpu_ns() + code_search_.cpu_ns();
}

void CollectorLoop::Dispatch(uint64_t tag) {
  if (tag == kWakeTag) {
    eventfd_t ignored = 0;
    eventfd_read(wake_.get(), &ignored);
  } else if (tag == kSamplerTag) {
    sampler_.Read();  // a sampler that ended closes its descriptor, which ends the watch
  } else if (tag >= AgentTable::kConnectionTag) {
    agents_.ConnectionChanged(static_cast<uint32_t>(tag - AgentTable::kConnectionTag));
  } else if (tag < kWakeTag) {
    agents_.ProcessGone(static_cast<uint32_t>(tag));
  }
}

void CollectorLoop::ApplyRequest(Clock::time_point now) {
  const AgentState wanted = WantedState(now);
  if (wanted == request_.state) return;
  request_.state = wanted;
  agents_.Request(request_);
}

void CollectorLoop::Calibrate(Clock::time_point now) {
  switch (calibration_.Next(now)) {
    case CounterArbiter::Order::kNone:
      return;
    case CounterArbiter::Order::kYieldSampler:
      return sampler_.Yield();
    case CounterArbiter::Order::kAllowRanges:
      request_.ranges_allowed = true;
      return agents_.Request(request_);
    case CounterArbiter::Order::kForbidRangesAndResumeSampler:
      request_.ranges_allowed = false;
      agents_.Request(request_);
      if (options_.counters != CountersMode::kRange) sampler_.Resume();
      return;
  }
}

// As with windows: without a budget nobody has asked for less.
void CollectorLoop::PaceSampling() {
  const uint64_t now_ns = ClockReading::Now().monotonic_ns;
  if (options_.overhead_budget_ppm == 0 || !sampler_.has_samples() || !pace_.Due(now_ns) ||
      recorder_.behind()) {
    return;
  }
  StudyTimed(&recorder_, CounterPrecisions,
             [this, now_ns](uint64_t took_ns, const std::vector<CounterPrecision>& precisions) {
               pace_.Looked(now_ns, took_ns, precisions);
             });
}

// A program is traced when it begins, so that its first launch is known at once. One that was
// attached to is traced in windows alone.
std::set<std::string> CollectorLoop::SampledSeldom(const std::vector<std::string>& in_use) const {
  std::set<std::string> seldom = pace_.seldom();
  if (!has_work_ && !options_.attached) seldom.insert(in_use.begin(), in_use.end());
  // What is sampled there tells nothing of kernels: the GPU's totals need few samples.
  for (const std::string& uuid : in_use) {
    if (agents_.RecordsOn(uuid) == RecordsNow::kNone) seldom.insert(uuid);
  }
  return seldom;
}

// Agents of other collectors need the notice.
std::set<std::string> CollectorLoop::SampledAtOnce(const std::vector<std::string>& in_use) const {
  std::set<std::string> at_once;
  for (const std::string& uuid : in_use) {
    if (agents_.RecordsOn(uuid) == RecordsNow::kThroughout && !SharesSampler(uuid)) {
      at_once.insert(uuid);
    }
  }
  return at_once;
}

bool CollectorLoop::SharesSampler(const std::string& device_uuid) const {
  const DeviceTable& devices = recorder_.state().devices;
  for (uint32_t i = 0; i < devices.size(); ++i) {
    if (devices[i].uuid == device_uuid && devices[i].status.has_value()) {
      return devices[i].status->collectors() > 1;
    }
  }
  return false;
}

void CollectorLoop::LookForSteadyWork() {
  const uint64_t now_ns = ClockReading::Now().monotonic_ns;
  if (options_.overhead_budget_ppm == 0 || launches_ == 0 || !steady_work_.Due(now_ns)) return;
  steady_work_.Look(now_ns, KernelTimes(recorder_.state()));
  SendProgress(now_ns);
}

// An attachment's processes can pay for few windows, which stay as short as they can be.
void CollectorLoop::LookAtSteps() {
  const uint64_t now_ns = ClockReading::Now().monotonic_ns;
  if (options_.overhead_budget_ppm == 0 || options_.attached || launches_ == 0 ||
      !steps_.Due(now_ns) || recorder_.behind()) {
    return;
  }
  StudyTimed(&recorder_, MedianStepNs, [this, now_ns](uint64_t took_ns, uint64_t step_ns) {
    steps_.Looked(now_ns, took_ns, step_ns);
  });
}

void CollectorLoop::SendProgress(uint64_t now_ns) {
  const DeviceTable& devices = recorder_.state().devices;
  for (uint32_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].used || devices[i].uuid.empty()) continue;
    const std::string& uuid = devices[i].uuid;
    const bool perhaps_once =
        agents_.RecordsOn(uuid) == RecordsNow::kThroughout && steady_work_.AtWork(now_ns, i);
    sampler_.Progress(
        uuid, ProgressOf(steady_work_.Steady(i), pace_.seldom().contains(uuid), perhaps_once));
  }
}

// Counters say nothing of operations without it, and it says nothing without counters.
void CollectorLoop::LookForCode() {
  if (!sampler_.has_samples()) return;
  code_search_.Turn(
      ClockReading::Now().monotonic_ns, recorder_.state(), [this] { return agents_.Processes(); },
      [this](const KernelCodeRecord& record) { RecordCode(record); });
}

void CollectorLoop::RecordCode(const KernelCodeRecord& record) {
  recorder_.Record(0, FRAME_KERNEL_CODE, record.SerializeAsString());
}

// What samples cost here, too: the sampler takes no more than both can pay for.
void CollectorLoop::SendSpending() {
  if (options_.overhead_budget_ppm == 0) return;
  const DeviceTable& devices = recorder_.state().devices;
  for (uint32_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].uuid.empty()) {
      sampler_.CollectorSpent(devices[i].uuid, devices[i].attribution_cpu_ns);
    }
  }
}

void CollectorLoop::PublishMetrics() {
  const uint64_t now_ns = ClockReading::Now().monotonic_ns;
  if (!metrics_.Due(now_ns)) return;
  for (const Alarm& alarm : metrics_.Publish(&recorder_, now_ns, CpuNs())) {
    ReportAlarm(alarm, now_ns);
  }
}

// One that is raised gets a window of all GPUs, which stays in the profile.
void CollectorLoop::ReportAlarm(const Alarm& alarm, uint64_t now_ns) {
  recorder_.Record(0, FRAME_ALARM, alarm.SerializeAsString());
  options_.report_alarm(alarm);
  if (alarm.end_ns() != 0) return;
  recorder_.KeepRecords();
  planner_.AskForLongWindow(now_ns);
}

// Without a budget agents and sampler are always on, and have nothing to agree on.
void CollectorLoop::PlanWindows() {
  const ClockReading now = ClockReading::Now();
  if (options_.overhead_budget_ppm == 0 || request_.state != AgentState::kTracing ||
      now.monotonic_ns < planner_.next_ns()) {
    return;
  }
  const std::vector<std::string> in_use = agents_.DevicesInUse();
  planner_.SampleSeldom(SampledSeldom(in_use));
  planner_.SampleAtOnce(SampledAtOnce(in_use));
  planner_.StepsTake(steps_.step_ns());
  planner_.RealtimeIsAhead(now.realtime_ns - now.monotonic_ns);
  const auto ready_ns = [&](const std::string& uuid) {
    return now.ToMonotonicNs(agents_.WindowReadyNs(uuid));
  };
  const std::vector<DeviceGroup> groups = agents_.GroupsInUse();
  for (const DeviceWindow& window : planner_.Plan(now.monotonic_ns, groups, ready_ns)) {
    SendWindowToAgents(window, now);
    if (window.sampling_begin_ns != 0) {
      sampler_.WindowAt(window.device_uuid, now.ToRealtimeNs(window.sampling_begin_ns));
    }
  }
}

void CollectorLoop::SendWindowToAgents(const DeviceWindow& window, const ClockReading& now) {
  agents_.PlanWindow(window.device_uuid, now.ToRealtimeNs(window.begin_ns),
                     now.ToRealtimeNs(window.end_ns));
}

// Another collector on this GPU has planned a window, or put ours off.
void CollectorLoop::TraceAlong(const std::string& device_uuid, uint64_t begin_ns,
                               uint64_t window_ns) {
  if (options_.overhead_budget_ppm == 0 || request_.state != AgentState::kTracing) return;
  const ClockReading now = ClockReading::Now();
  const auto window = planner_.SamplerDecided(now.monotonic_ns, device_uuid,
                                              now.ToMonotonicNs(begin_ns), window_ns);
  if (window) SendWindowToAgents(*window, now);
}

AgentState CollectorLoop::WantedState(Clock::time_point now) const {
  if (sleep_asked_) return AgentState::kInactive;
  const int override_state = state_override_;
  return override_state < 0 ? schedule_.StateAt(now) : static_cast<AgentState>(override_state);
}

milliseconds CollectorLoop::NextWait(Clock::time_point now) const {
  if (stop_asked_) return kShortestPause;
  const std::optional<Clock::time_point> change = schedule_.NextChange(now);
  if (!change) return pause_;
  return std::min(pause_, std::chrono::ceil<milliseconds>(*change - now));
}

void CollectorLoop::OnAgentFrame(uint32_t source, uint16_t type, std::string_view payload) {
  recorder_.Record(source, type, payload);
  if (!has_work_ && (type == FRAME_VARIANTS || type == FRAME_LAUNCHES || type == FRAME_COPIES)) {
    has_work_ = true;
    planner_.PlanSoon();
  }
  if (type == FRAME_VARIANTS) sampler_.OpenWindow();
  if (type == FRAME_LAUNCHES) calibration_.LaunchesSeen(Clock::now());
  if (type == FRAME_RANGES) {
    calibration_.RangesSeen(Clock::now());
    RangeBatch ranges;
    has_ranges_ =
        has_ranges_ || (ranges.ParseFromArray(payload.data(), static_cast<int>(payload.size())) &&
                        ranges.ranges_size() > 0);
  }
  if (type != FRAME_DEVICE) return;
  Device device;
  if (device.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    sampler_.UseDevice(device.uuid());
  }
}

bool CollectorLoop::StoppingIsOver(Clock::time_point now) {
  if (!stop_asked_) return false;
  // Who was left waiting is the reason where nothing was recorded.
  if (agents_.live() == 0 && !listener_.SomebodyWaits()) return true;
  const bool at_once = options_.attached || options_.of_service;
  if (!at_once && now < *stop_asked_ + kGrace) return false;
  if (!sleep_asked_) {
    sleep_asked_ = now;
    ApplyRequest(now);
  }
  // An agent of an attachment or of a service ends its part once it is inactive; the others go on.
  if (at_once) return now >= *sleep_asked_ + kGrace;
  return agents_.AllAcknowledged() || now >= *sleep_asked_ + kSleepGrace;
}

void CollectorLoop::AskToStop() {
  stop_ = true;
  Wake();
}

void CollectorLoop::AddAgent(UniqueFd connection, pid_t pid) {
  {
    const std::lock_guard lock(added_mutex_);
    added_.emplace_back(std::move(connection), pid);
  }
  Wake();
}

void CollectorLoop::AddHandshake(AgentHandshake handshake) {
  {
    const std::lock_guard lock(added_mutex_);
    added_handshakes_.push_back(std::move(handshake));
    ++handed_over_;
  }
  Wake();
}

uint64_t CollectorLoop::TakeInAdded(Clock::time_point now) {
  const std::lock_guard lock(added_mutex_);
  for (auto& [connection, pid] : added_) listener_.Adopt(std::move(connection), pid, now);
  added_.clear();
  const uint64_t answered = added_handshakes_.size();
  for (AgentHandshake& handshake : added_handshakes_) agents_.Admit(std::move(handshake));
  added_handshakes_.clear();
  return answered;
}

void CollectorLoop::AskForState(AgentState state) {
  state_override_ = static_cast<int>(state);
  Wake();
}

void CollectorLoop::Wake() { eventfd_write(wake_.get(), 1); }

uint64_t CollectorLoop::agents_left_out() const {
  return agents_.left_out() + listener_.unanswered();
}

std::vector<std::string> CollectorLoop::Notices() {
  AgentTrouble trouble = agents_.trouble();
  trouble.AddUnanswered(listener_.unanswered());
  std::vector<std::string> notices = trouble.Sentences();
  notices.insert(notices.end(), sampler_.notices().begin(), sampler_.notices().end());
  if (options_.counters == CountersMode::kRange && launches_ > 0 && !has_ranges_) {
    notices.push_back(
        "No counters: ranges alone were asked for, and none could be counted, since the program "
        "never waited until the GPU was idle, its main thread made no CUDA call, or it ran for "
        "less than some five seconds. --counters=auto samples too.");
  }
  if (listener_.refused() > 0) {
    notices.push_back(absl::StrCat(listener_.refused(),
                                   " connections to the collector were refused: of another user, "
                                   "too slow, or not from an agent."));
  }
  return notices;
}

}  // namespace utlz
