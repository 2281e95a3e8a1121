// The sampler process's main loop: steps every GPU's sampler when it is due, one window at a time,
// and obeys the collector's commands.
#ifndef UTLZ_COLLECTOR_SAMPLING_SAMPLER_LOOP_H_
#define UTLZ_COLLECTOR_SAMPLING_SAMPLER_LOOP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collector/sampling/device_sampler.h"
#include "collector/sampling/frame_channel.h"
#include "collector/sampling/sampler_options.h"

namespace utlz {

class SamplerLoop {
 public:
  // All that is named must outlive the loop.
  SamplerLoop(const SamplerOptions& options, const std::vector<CudaDevice>& devices,
              const SamplerLibraries& libraries, const std::string& lease_folder,
              FrameChannel* channel);

  // Until the channel closes or a quit command comes.
  void Run();

 private:
  void UseDevice(const CudaDevice& device);
  void UseDeviceByUuid(const std::string& uuid);
  void ShareCpuBudget();
  void Obey(const SamplerCommand& command);
  void PlanWindow(const SamplerCommand& command);
  void StepAll();
  int MillisecondsUntilDue() const;

  const SamplerOptions options_;
  const std::vector<CudaDevice>& devices_;
  const SamplerLibraries& libraries_;
  const std::string lease_folder_;
  FrameChannel* const channel_;
  std::vector<std::unique_ptr<DeviceSampler>> samplers_;
  uint32_t duty_ppm_;
  bool yielded_ = false;
  bool quit_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLING_SAMPLER_LOOP_H_
