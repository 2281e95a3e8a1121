// Drops frames of a GPU that several profiles repeat. Collectors that run side by side share one
// sampler, so profiles of programs on one GPU hold the same samples and metric sets, and each has
// NVML's totals of the GPU. Not thread-safe; memory grows with the batches of samples.
#ifndef UTLZ_TOOLS_MERGE_DEVICE_FRAMES_H_
#define UTLZ_TOOLS_MERGE_DEVICE_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace utlz {

class DeviceFrames {
 public:
  // False for a frame that repeats what another input, or this one, had. `payload` gets
  // the number of the metric set that was kept. `type` is a FrameType; others than a device's pass.
  bool Take(size_t input, uint16_t type, std::string* payload);

 private:
  struct Totals {
    size_t input = 0;  // whose totals are kept
    uint64_t last_ns = 0;
  };

  bool TakeMetricSet(std::string* payload);
  bool TakeSamples(std::string* payload);
  bool TakeTotals(size_t input, const std::string& payload);

  std::map<std::string, uint32_t> metric_sets_;         // by all but the identifier
  std::map<uint32_t, uint32_t> kept_metric_set_;        // by identifier, of those alike
  std::set<std::pair<std::string, uint64_t>> batches_;  // by device and first time
  std::map<std::string, Totals> totals_;                // by device
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_DEVICE_FRAMES_H_
