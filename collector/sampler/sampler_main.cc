#include "collector/sampler/sampler_main.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "collector/clocks.h"
#include "collector/sampler/channel/frame_channel.h"
#include "collector/sampler/driver/library_search.h"
#include "collector/sampler/sampler_loop.h"
#include "collector/sampler/sharing/device_lease.h"
#include "collector/sampler_name.h"

namespace utlz {
namespace {

void SendStatusWithoutDevice(FrameChannel* channel, const absl::Status& failure) {
  SamplerStatus status;
  status.set_time_ns(RealtimeNs());
  status.set_counter_source(SOURCE_TIME_ONLY);
  status.set_reason(std::string(failure.message()));
  status.set_remedy("run 'utlz doctor'");
  channel->Send(FRAME_SAMPLER_STATUS, status);
}

}  // namespace

int SamplerMain(const SamplerOptions& options) {
  // Only the channel ends the sampler: a Ctrl-C is for the profiled command.
  for (int signal_number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) signal(signal_number, SIG_IGN);
  prctl(PR_SET_NAME, kSamplerProcessName);

  auto channel = std::make_unique<FrameChannel>(options.channel_fd);
  absl::StatusOr<CudaDriver> cuda = LoadCudaDriver();
  absl::StatusOr<std::vector<CudaDevice>> devices =
      cuda.ok() ? ListCudaDevices(*cuda) : absl::StatusOr<std::vector<CudaDevice>>(cuda.status());
  if (!devices.ok()) {
    SendStatusWithoutDevice(channel.get(), devices.status());
    channel->Drain(1000);
    return 0;
  }

  SamplerLibraries libraries;
  absl::StatusOr<NvmlTable> nvml = LoadNvml();
  if (nvml.ok()) libraries.nvml = &*nvml;
  absl::StatusOr<CuptiTable> cupti = absl::CancelledError("counters were not asked for");
  if (options.counters) {
    const CuptiSearch search =
        FindCupti(UserLibrarySearch(options.cupti_path, options.program_prefix));
    cupti = LoadCupti(search.paths);
    if (!cupti.ok()) {
      libraries.no_counters = ExplainMissingCupti(cupti.status(), search.passed_over);
    }
  }
  if (cupti.ok()) libraries.cupti = &*cupti;

  SamplerLoop loop(options, *devices, libraries, DeviceLease::DefaultFolder(), std::move(channel));
  loop.Run();
  // CUDA's own way out takes down what the kernel takes down anyway, while a run waits for its end.
  _exit(0);
}

int SamplerCommandLine(const std::vector<std::string>& arguments) {
  const absl::StatusOr<SamplerOptions> options = ParseSamplerArguments(arguments);
  if (!options.ok()) {
    std::fprintf(stderr, "%s\n", std::string(options.status().message()).c_str());
    return 2;
  }
  return SamplerMain(*options);
}

}  // namespace utlz
