// The sampler process's main loop: steps every GPU's sampler when it is due, and obeys its
// collector, and the samplers of other collectors that share its counters. It goes on until the
// last of them has left.
//
// While the loop reads what one GPU counted, it cannot stop another's window. So one window is
// under way at a time. Only windows that are planned for the same time are under way together, and
// the loop reads none of them before it has stopped all.
#ifndef UTLZ_COLLECTOR_SAMPLER_SAMPLER_LOOP_H_
#define UTLZ_COLLECTOR_SAMPLER_SAMPLER_LOOP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/sampler/channel/frame_channel.h"
#include "collector/sampler/channel/sampler_options.h"
#include "collector/sampler/device_sampler.h"
#include "collector/sampler/host/idle_cores.h"
#include "collector/sampler/sampler_subscribers.h"
#include "collector/sampler/sharing/competing_profilers.h"
#include "collector/sampler/sharing/counter_pause.h"
#include "proto/listener_pace.h"

namespace utlz {

class SamplerLoop {
 public:
  // All that is named must outlive the loop; `channel` leads to the collector that started it.
  // `proc_root` is put before /proc where other profilers are looked for, and idle cores.
  SamplerLoop(const SamplerOptions& options, const std::vector<CudaDevice>& devices,
              const SamplerLibraries& libraries, const std::string& lease_folder,
              std::unique_ptr<FrameChannel> channel, const std::string& proc_root = "");

  void Run();

  // Does what is due, waits for at most `longest_wait_ms`, obeys what came. False once nobody is
  // left.
  bool Turn(int longest_wait_ms);

 private:
  void UseDevice(const CudaDevice& device);
  void UseDeviceByUuid(const std::string& uuid);
  void ShareProcess();
  void LookForIdleCores();
  void HandleCommand(SamplerSubscribers::Listener* listener, const SamplerCommand& command);
  void PlanWindow(SamplerSubscribers::Listener* listener, const SamplerCommand& command);
  void SendDescriptions(SamplerSubscribers::Listener* listener);
  void StepAll();
  bool MayBegin(const DeviceSampler& sampler, uint64_t now_ns) const;
  bool AnySampling() const;
  // All, the one first whose last window began the longest ago.
  std::vector<DeviceSampler*> InTurn() const;
  void Wait(int longest_wait_ms);
  void TakeInSubscribers();
  // Who asks for whose counters, who plans windows, and which GPUs nobody wants any more.
  void ApplyWishes();
  void GiveOrTake(uint64_t now_ns, DeviceSampler* sampler);
  void LookForRivals();
  // The other profiler that wants this GPU's counters, if any.
  std::optional<std::string> RivalFor(const DeviceSampler& sampler) const;
  void PartFromOwnCollector();
  // `goes_on`: for subscribers.
  void ConcludeAll(bool goes_on);
  int MillisecondsUntilDue(int longest_wait_ms) const;
  // Of the GPU that the command is about; those of all GPUs for the collector's general ones.
  DeviceSampler* Find(const std::string& uuid);

  const SamplerOptions options_;
  const std::vector<CudaDevice>& devices_;
  const SamplerLibraries& libraries_;
  const std::string lease_folder_;
  SamplerSubscribers subscribers_;
  std::vector<std::unique_ptr<DeviceSampler>> samplers_;
  CompetingProfilers rivals_;
  PauseWatch pauses_;
  IdleCores idle_cores_;
  ListenerPace subscriber_pace_;                 // of the listeners of all GPUs
  std::map<std::string, SourceReason> yielded_;  // by UUID, where counters were given up: why
  uint32_t duty_ppm_;
  bool quit_ = false;
  bool parted_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SAMPLER_LOOP_H_
