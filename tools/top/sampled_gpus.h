// Samples of the counters of GPUs that have no GPM, taken in short windows by the sampler that
// serves every utlz of the machine (collector/sampler). Thread safety: none.
#ifndef UTLZ_TOOLS_TOP_SAMPLED_GPUS_H_
#define UTLZ_TOOLS_TOP_SAMPLED_GPUS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/sampler/channel/sampler_client.h"
#include "proto/profile.pb.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// What samples of one GPU add up to.
struct SampleSum {
  double sm_active = 0;   // cycles
  double sm_elapsed = 0;  // cycles, of the samples that have those
  double tensor = 0;      // cycles
  double tensor_elapsed = 0;
  double dram_bytes = 0;
  double dram_ns = 0;
};

class SampledGpus {
 public:
  // Windows are so seldom that they cost nothing that a person could measure.
  static constexpr uint32_t kDutyPpm = 20'000;
  static constexpr uint32_t kCpuBudgetPpm = 3'000;
  // So long a value is shown that no newer one replaces.
  static constexpr uint64_t kStaleNs = 10'000'000'000;

  // Starts the sampler's process; nothing where it cannot be.
  static std::unique_ptr<SampledGpus> Start();
  // For tests: nothing is started, and frames come by Consume().
  SampledGpus() = default;

  // Takes what the sampler sent.
  void Read();
  void Consume(uint16_t type, std::string_view payload);

  // `gpu` holds the values that NVML gave. Adds what the GPU's samples say, or the reason why there
  // are none. `now_ns` is of CLOCK_MONOTONIC.
  void Complete(uint64_t now_ns, GpuSnapshot* gpu);

 private:
  struct Gpu {
    std::map<uint32_t, MetricSet> sets = {};
    std::optional<DevicePeaks> peaks = {};
    SampleSum sum = {};  // since it was last shown
    GpuSnapshot shown = {};
    uint64_t shown_ns = 0;
    std::string reason = {};
  };

  void AddSamples(const SampleBatch& batch, Gpu* gpu) const;
  static void Show(uint64_t now_ns, Gpu* gpu);

  std::unique_ptr<SamplerClient> client_;
  std::map<std::string, Gpu> gpus_;  // by UUID of 16 bytes
  std::string reason_;               // why there is no sampler, or no GPU of its
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SAMPLED_GPUS_H_
