#include "collector/sampler/sampler_loop.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/sampler/sharing/sampler_socket.h"

namespace utlz {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr int kLongestWaitMs = 1000;
constexpr int kDrainMs = 1000;
// So much later than another GPU's window one may begin beside it. Starting one takes a
// millisecond.
constexpr uint64_t kTogetherNs = 20'000'000;
// Hopper; DCGM counts by GPM from then on.
constexpr int kFirstMajorWithGpm = 9;

const char kRangesReason[] =
    "another utlz counts by user ranges for a moment, which the hardware does not do beside "
    "sampling";

std::string UuidOf(const SamplerCommand& command) {
  return std::string(reinterpret_cast<const char*>(command.uuid), sizeof(command.uuid));
}

}  // namespace

SamplerLoop::SamplerLoop(const SamplerOptions& options, const std::vector<CudaDevice>& devices,
                         const SamplerLibraries& libraries, const std::string& lease_folder,
                         std::unique_ptr<FrameChannel> channel, const std::string& proc_root)
    : options_(options),
      devices_(devices),
      libraries_(libraries),
      lease_folder_(lease_folder),
      subscribers_(std::move(channel),
                   options.planned_windows ? SubscriberKind::kPlanned : SubscriberKind::kAlways),
      rivals_(proc_root),
      pauses_(lease_folder),
      idle_cores_(proc_root),
      duty_ppm_(options.duty_ppm) {
  if (options.all_devices || devices.size() == 1) {
    for (const CudaDevice& device : devices) UseDevice(device);
  }
}

void SamplerLoop::Run() {
  while (Turn(kLongestWaitMs)) {
  }
}

bool SamplerLoop::Turn(int longest_wait_ms) {
  // Before counters are taken for the first time, too: one that starts has not asked for them yet.
  LookForRivals();
  LookForIdleCores();
  ApplyWishes();
  StepAll();
  Wait(longest_wait_ms);
  TakeInSubscribers();
  subscribers_.Exchange(
      MonotonicNs(),
      [this](SamplerSubscribers::Listener* listener, const SamplerCommand& command) {
        HandleCommand(listener, command);
      },
      [this](SamplerSubscribers::Listener* listener) { SendDescriptions(listener); });
  if (!parted_ && (quit_ || !subscribers_.own_listens())) PartFromOwnCollector();
  if (subscribers_.empty()) {
    // The rest, which CUPTI and NVML would take down at length, the end of the process does at
    // once.
    ConcludeAll(false);
    return false;
  }
  ApplyWishes();
  return true;
}

void SamplerLoop::UseDevice(const CudaDevice& device) {
  if (Find(device.uuid) != nullptr) return;
  CounterSessionOptions session;
  session.sampler.device_index = static_cast<size_t>(device.ordinal);
  session.interval_ns = options_.interval_ns;
  session.schedule.duty_ppm = duty_ppm_;
  session.schedule.cpu_budget_ppm = options_.cpu_budget_ppm;
  session.schedule.cpu_burst_ns = options_.cpu_burst_ns;
  session.schedule.steady_reserve_ns = SteadyReserveNs(options_.cpu_burst_ns);
  session.schedule.seed = RealtimeNs();
  session.power_loss_ppm = options_.power_loss_ppm;
  session.planning = subscribers_.Planning(device.uuid);
  session.lease_folder = lease_folder_;
  samplers_.push_back(std::make_unique<DeviceSampler>(
      device, libraries_, session,
      [this, &device](uint16_t type, const google::protobuf::MessageLite& message) {
        subscribers_.Send(device.uuid, type, message);
      },
      [this](uint16_t type, std::string_view payload) { subscribers_.SendToOwn(type, payload); },
      MonotonicNs()));
  ShareProcess();
}

DeviceSampler* SamplerLoop::Find(const std::string& uuid) {
  const auto found = std::find_if(samplers_.begin(), samplers_.end(), [&](const auto& sampler) {
    return sampler->device().uuid == uuid;
  });
  return found == samplers_.end() ? nullptr : found->get();
}

void SamplerLoop::UseDeviceByUuid(const std::string& uuid) {
  for (const CudaDevice& device : devices_) {
    if (device.uuid == uuid) {
      UseDevice(device);
      return;
    }
  }
  SamplerStatus status;
  status.set_device_uuid(uuid);
  status.set_time_ns(RealtimeNs());
  status.set_counter_source(SOURCE_TIME_ONLY);
  status.set_reason("the sampler does not see this GPU (a MIG slice, or hidden from this process)");
  status.set_remedy("run utlz outside the container that hides the GPU, or without MIG");
  subscribers_.Send(uuid, FRAME_SAMPLER_STATUS, status);
}

void SamplerLoop::ShareProcess() {
  if (samplers_.empty()) return;
  const uint64_t now_ns = MonotonicNs();
  const auto share = static_cast<uint32_t>(options_.cpu_budget_ppm / samplers_.size());
  for (const auto& sampler : samplers_) {
    sampler->SetCpuBudget(now_ns, share);
    sampler->SetGpus(samplers_.size());
  }
}

// Where nothing limits its CPU time, none is to be found.
void SamplerLoop::LookForIdleCores() {
  const uint64_t now_ns = MonotonicNs();
  if (samplers_.empty() || options_.cpu_budget_ppm == 0 || !idle_cores_.Due(now_ns)) return;
  idle_cores_.Look(now_ns, ProcessCpuNs(), CpusOfThisProcess());
  const auto share = static_cast<uint32_t>(idle_cores_.spare_ppm() / samplers_.size());
  for (const auto& sampler : samplers_) sampler->SetIdleCpu(now_ns, share);
}

void SamplerLoop::PlanWindow(SamplerSubscribers::Listener* listener,
                             const SamplerCommand& command) {
  DeviceSampler* const sampler = Find(UuidOf(command));
  if (sampler == nullptr || listener->kind != SubscriberKind::kPlanned) return;
  const uint64_t now_ns = MonotonicNs();
  const uint64_t realtime_ns = RealtimeNs();
  const uint64_t asked_ns = now_ns + (std::max(command.argument, realtime_ns) - realtime_ns);
  const uint64_t planned_ns = sampler->WindowAt(now_ns, asked_ns);
  if (planned_ns == UINT64_MAX) return;
  subscribers_.SendWindow(sampler->PlannedWindow(), planned_ns == asked_ns ? listener : nullptr);
}

void SamplerLoop::HandleCommand(SamplerSubscribers::Listener* listener,
                                const SamplerCommand& command) {
  const uint64_t now_ns = MonotonicNs();
  const bool own = listener->uuid.empty();
  // Subscribers may command only the GPU that they share. They neither add GPUs nor set our pace.
  if (!own && UuidOf(command) != listener->uuid) return;
  switch (command.kind) {
    case kSamplerUseDevice:
      if (own) UseDeviceByUuid(UuidOf(command));
      return;
    case kSamplerWindowAt:
      return PlanWindow(listener, command);
    case kSamplerProgress:
      // As many GPUs as there are, whatever is named.
      if (Find(UuidOf(command)) != nullptr) {
        listener->progress[UuidOf(command)] = command.argument;
      }
      return;
    case kSamplerCollectorSpent:
      if (DeviceSampler* const sampler = Find(UuidOf(command))) {
        sampler->SpentByCollector(now_ns, command.argument);
      }
      return;
    case kSamplerQuit:
      quit_ = quit_ || own;
      return;
    case kSamplerYield:
      return subscribers_.Yield(now_ns, listener);
    case kSamplerResume:
      return subscribers_.Resume(now_ns, listener);
    case kSamplerSetDuty:
      if (!own) return;
      duty_ppm_ = static_cast<uint32_t>(std::min<uint64_t>(command.argument, 1'000'000));
      for (const auto& sampler : samplers_) sampler->SetDuty(now_ns, duty_ppm_);
      return;
    case kSamplerStartWindow:
      for (const auto& sampler : samplers_) {
        if (own || sampler->device().uuid == listener->uuid) sampler->RequestWindow(now_ns);
      }
      return;
    default:
      return;
  }
}

void SamplerLoop::SendDescriptions(SamplerSubscribers::Listener* listener) {
  DeviceSampler* const sampler = Find(listener->uuid);
  if (sampler == nullptr) return;
  sampler->SendDescriptions([&](uint16_t type, const google::protobuf::MessageLite& message) {
    subscribers_.SendTo(listener, type, message);
  });
  sampler->SetPlanning(MonotonicNs(), subscribers_.Planning(listener->uuid));
}

void SamplerLoop::StepAll() {
  for (const auto& sampler : samplers_) sampler->StopWhenDue(MonotonicNs());
  for (DeviceSampler* const sampler : InTurn()) {
    const bool beside = AnySampling();
    if (beside && sampler->stopped()) continue;
    const uint64_t now_ns = MonotonicNs();
    sampler->Step(now_ns, MayBegin(*sampler, now_ns), beside);
  }
}

bool SamplerLoop::MayBegin(const DeviceSampler& sampler, uint64_t now_ns) const {
  if (subscribers_.congested()) return false;
  return std::all_of(samplers_.begin(), samplers_.end(), [&](const auto& other) {
    if (!other->sampling()) return true;
    return sampler.samples_beside_others() && other->samples_beside_others() &&
           now_ns < other->window_begin_ns() + kTogetherNs;
  });
}

bool SamplerLoop::AnySampling() const {
  return std::any_of(samplers_.begin(), samplers_.end(),
                     [](const auto& sampler) { return sampler->sampling(); });
}

std::vector<DeviceSampler*> SamplerLoop::InTurn() const {
  std::vector<DeviceSampler*> samplers;
  samplers.reserve(samplers_.size());
  for (const auto& sampler : samplers_) samplers.push_back(sampler.get());
  std::stable_sort(samplers.begin(), samplers.end(), [](const auto* one, const auto* other) {
    return one->window_begin_ns() < other->window_begin_ns();
  });
  return samplers;
}

void SamplerLoop::Wait(int longest_wait_ms) {
  std::vector<pollfd> entries;
  const uint64_t now_ns = MonotonicNs();
  subscribers_.AddPolled(now_ns, &entries);
  const bool may_listen = subscriber_pace_.MayListen(now_ns);
  for (const auto& sampler : samplers_) {
    for (const int fd : {may_listen ? sampler->listener() : -1, sampler->subscription_fd()}) {
      if (fd >= 0) entries.push_back({fd, POLLIN, 0});
    }
  }
  // The result does not matter: the caller looks at all descriptors, and no call blocks.
  (void)poll(entries.data(), entries.size(), MillisecondsUntilDue(longest_wait_ms));
}

void SamplerLoop::TakeInSubscribers() {
  for (const auto& sampler : samplers_) {
    if (sampler->listener() < 0) continue;
    UniqueFd connection = AcceptSubscriber(sampler->listener(), MonotonicNs(), &subscriber_pace_);
    if (connection.valid()) {
      subscribers_.Add(MonotonicNs(), std::move(connection), sampler->device().uuid);
    }
  }
}

void SamplerLoop::ApplyWishes() {
  const uint64_t now_ns = MonotonicNs();
  std::erase_if(samplers_, [this](const auto& sampler) {
    return !subscribers_.own_listens() && !subscribers_.HasSubscribers(sampler->device().uuid);
  });
  for (const auto& sampler : samplers_) {
    sampler->SetPlanning(now_ns, subscribers_.Planning(sampler->device().uuid));
    const std::optional<uint64_t> progress = subscribers_.Progress(sampler->device().uuid);
    if (progress.has_value()) sampler->SetProgress(now_ns, *progress);
    GiveOrTake(now_ns, sampler.get());
  }
}

void SamplerLoop::GiveOrTake(uint64_t now_ns, DeviceSampler* sampler) {
  const std::string& uuid = sampler->device().uuid;
  const std::optional<std::string> rival = RivalFor(*sampler);
  std::optional<SourceReason> why;
  const std::optional<CounterPause>& pause = pauses_.Of(uuid, now_ns, RealtimeNs());
  std::string lent_to = rival.value_or("");
  if (pause.has_value()) {
    lent_to = absl::StrCat("utlz pause of ", pause->by);
    why = SourceReason{absl::StrCat(kPauseReason, " (", pause->by, ")"),
                       "none is needed: utlz pause --end takes them back before the time is over"};
  } else if (rival.has_value()) {
    why = SourceReason{absl::StrCat("the counters are lent to another profiler (", *rival, ")"),
                       "none is needed: utlz takes them back when it ends"};
  } else if (now_ns < subscribers_.YieldedUntilNs(uuid)) {
    why = SourceReason{kRangesReason, "none is needed: it takes seconds"};
  }
  const auto yielded = yielded_.find(uuid);
  if (why.has_value() && (yielded == yielded_.end() || yielded->second != *why)) {
    sampler->Yield(now_ns, *why, lent_to);
    yielded_[uuid] = *why;
  } else if (!why.has_value() && yielded != yielded_.end()) {
    sampler->Resume(now_ns);
    yielded_.erase(yielded);
  }
}

void SamplerLoop::LookForRivals() {
  const bool takes = std::any_of(samplers_.begin(), samplers_.end(),
                                 [](const auto& sampler) { return sampler->takes_counters(); });
  if (takes) rivals_.Look(MonotonicNs());
}

std::optional<std::string> SamplerLoop::RivalFor(const DeviceSampler& sampler) const {
  if (!sampler.takes_counters()) return std::nullopt;
  const bool has_gpm = sampler.device().compute_capability_major >= kFirstMajorWithGpm;
  return rivals_.Present(MonotonicNs(), has_gpm, sampler.device().pci_bus);
}

void SamplerLoop::PartFromOwnCollector() {
  parted_ = true;
  const bool goes_on = subscribers_.has_subscribers();
  ConcludeAll(goes_on);
  if (goes_on) {
    subscribers_.ReleaseOwn(MonotonicNs());
  } else {
    subscribers_.own_channel().Drain(kDrainMs);
    subscribers_.own_channel().Close();
  }
  ShareProcess();
}

void SamplerLoop::ConcludeAll(bool goes_on) {
  for (const auto& sampler : samplers_) sampler->StopNow(MonotonicNs());
  for (const auto& sampler : samplers_) sampler->Conclude(MonotonicNs(), goes_on);
}

int SamplerLoop::MillisecondsUntilDue(int longest_wait_ms) const {
  const uint64_t now_ns = MonotonicNs();
  uint64_t due_ns = now_ns + static_cast<uint64_t>(longest_wait_ms) * kNsPerMs;
  // Listeners that are not polled meanwhile.
  if (!subscriber_pace_.MayListen(now_ns)) {
    due_ns = std::min(due_ns, subscriber_pace_.paused_until_ns());
  }
  bool held_up = subscribers_.congested();
  for (const auto& sampler : samplers_) {
    due_ns = std::min({due_ns, sampler->next_step_ns(), now_ns + PauseWatch::kLookNs});
    if (sampler->takes_counters()) due_ns = std::min(due_ns, rivals_.next_look_ns());
    held_up = held_up || sampler->sampling();
  }
  if (due_ns > now_ns) return static_cast<int>((due_ns - now_ns + kNsPerMs - 1) / kNsPerMs);
  // What is due but may not begin yet is looked at again soon, not at once.
  return held_up ? 1 : 0;
}

}  // namespace utlz
