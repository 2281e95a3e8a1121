#include "collector/sampling/sampler_loop.h"

#include <algorithm>
#include <limits>

#include "collector/sampling/clocks.h"

namespace utlz {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr int kLongestWaitMs = 1000;
constexpr int kDrainMs = 1000;

std::string UuidOf(const SamplerCommand& command) {
  return std::string(reinterpret_cast<const char*>(command.uuid), sizeof(command.uuid));
}

}  // namespace

SamplerLoop::SamplerLoop(const SamplerOptions& options, const std::vector<CudaDevice>& devices,
                         const SamplerLibraries& libraries, const std::string& lease_folder,
                         FrameChannel* channel)
    : options_(options),
      devices_(devices),
      libraries_(libraries),
      lease_folder_(lease_folder),
      channel_(channel),
      duty_ppm_(options.duty_ppm) {
  if (options.all_devices || devices.size() == 1) {
    for (const CudaDevice& device : devices) UseDevice(device);
  }
}

void SamplerLoop::Run() {
  while (channel_->open() && !quit_) {
    StepAll();
    for (const SamplerCommand& command : channel_->Exchange(MillisecondsUntilDue())) {
      Obey(command);
    }
  }
  for (const auto& sampler : samplers_) sampler->Finish(MonotonicNs());
  channel_->Drain(kDrainMs);
}

void SamplerLoop::UseDevice(const CudaDevice& device) {
  for (const auto& sampler : samplers_) {
    if (sampler->device().uuid == device.uuid) return;
  }
  CounterSessionOptions session;
  session.sampler.device_index = static_cast<size_t>(device.ordinal);
  session.sampler.interval_ns = options_.interval_ns;
  session.schedule.duty_ppm = duty_ppm_;
  session.schedule.cpu_budget_ppm = options_.cpu_budget_ppm;
  session.schedule.cpu_burst_ns = options_.cpu_burst_ns;
  session.schedule.seed = RealtimeNs();
  session.planned_windows = options_.planned_windows;
  session.lease_folder = lease_folder_;
  // Two sets a GPU, counted from 1.
  session.first_metric_set = 2 * static_cast<uint32_t>(device.ordinal) + 1;
  samplers_.push_back(std::make_unique<DeviceSampler>(
      device, libraries_, session,
      [channel = channel_](uint16_t type, const google::protobuf::MessageLite& message) {
        channel->Send(type, message);
      },
      MonotonicNs()));
  if (yielded_ && samplers_.back()->counters() != nullptr) {
    samplers_.back()->counters()->Yield(MonotonicNs());
  }
  ShareCpuBudget();
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
  status.set_rung(SOURCE_TIME_ONLY);
  status.set_reason("the sampler does not see this GPU (a MIG slice, or hidden from this process)");
  status.set_remedy("run utlz outside the container that hides the GPU, or without MIG");
  channel_->Send(FRAME_SAMPLER_STATUS, status);
}

void SamplerLoop::ShareCpuBudget() {
  const uint64_t now_ns = MonotonicNs();
  const auto share = static_cast<uint32_t>(options_.cpu_budget_ppm / samplers_.size());
  for (const auto& sampler : samplers_) {
    if (sampler->counters() != nullptr) sampler->counters()->SetCpuBudget(now_ns, share);
  }
}

void SamplerLoop::PlanWindow(const SamplerCommand& command) {
  const uint64_t realtime_ns = RealtimeNs();
  const uint64_t begin_ns = std::max(command.argument, realtime_ns);
  for (const auto& sampler : samplers_) {
    if (sampler->counters() == nullptr || sampler->device().uuid != UuidOf(command)) continue;
    sampler->counters()->WindowAt(MonotonicNs() + (begin_ns - realtime_ns));
  }
}

void SamplerLoop::Obey(const SamplerCommand& command) {
  const uint64_t now_ns = MonotonicNs();
  switch (command.kind) {
    case kSamplerUseDevice:
      UseDeviceByUuid(UuidOf(command));
      return;
    case kSamplerWindowAt:
      PlanWindow(command);
      return;
    case kSamplerQuit:
      quit_ = true;
      return;
    case kSamplerYield:
      yielded_ = true;
      break;
    case kSamplerResume:
      yielded_ = false;
      break;
    case kSamplerSetDuty:
      duty_ppm_ = static_cast<uint32_t>(std::min<uint64_t>(command.argument, 1'000'000));
      break;
    default:
      break;
  }
  for (const auto& sampler : samplers_) {
    CounterSession* counters = sampler->counters();
    if (counters == nullptr) continue;
    if (command.kind == kSamplerYield) counters->Yield(now_ns);
    if (command.kind == kSamplerResume) counters->Resume(now_ns);
    if (command.kind == kSamplerSetDuty) counters->SetDuty(now_ns, duty_ppm_);
    if (command.kind == kSamplerStartWindow) counters->RequestWindow(now_ns);
  }
}

void SamplerLoop::StepAll() {
  for (const auto& sampler : samplers_) {
    // Decoding one GPU's window would hold up the end of another's.
    const bool may_begin =
        !channel_->congested() && std::none_of(samplers_.begin(), samplers_.end(),
                                               [](const auto& other) { return other->sampling(); });
    sampler->Step(MonotonicNs(), may_begin);
  }
}

int SamplerLoop::MillisecondsUntilDue() const {
  const uint64_t now_ns = MonotonicNs();
  uint64_t due_ns = now_ns + kLongestWaitMs * kNsPerMs;
  bool held_up = channel_->congested();
  for (const auto& sampler : samplers_) {
    due_ns = std::min(due_ns, sampler->next_step_ns());
    held_up = held_up || sampler->sampling();
  }
  if (due_ns > now_ns) return static_cast<int>((due_ns - now_ns + kNsPerMs - 1) / kNsPerMs);
  // What is due but may not begin yet is looked at again soon, not at once.
  return held_up ? 1 : 0;
}

}  // namespace utlz
