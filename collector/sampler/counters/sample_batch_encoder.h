// Turns PM samples into SampleBatch messages (columns of deltas, profile.proto).
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_SAMPLE_BATCH_ENCODER_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_SAMPLE_BATCH_ENCODER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

class SampleBatchEncoder {
 public:
  // `resolutions`: by metric of the set; a value is sent as the nearest multiple.
  SampleBatchEncoder(uint32_t metric_set, std::string device_uuid, uint64_t interval_ns,
                     std::vector<double> resolutions);

  // The next sample begins a window.
  void StartWindow() { batch_.set_window_start(true); }

  // Appends one sample, in time order. A sample that cannot be right (no duration, a value that is
  // negative or no number) counts as lost instead.
  void Add(uint64_t start_ns, uint64_t end_ns, std::span<const double> values);

  void AddLost(uint64_t samples);

  uint32_t samples() const { return batch_.samples(); }
  bool has_news() const { return batch_.samples() != 0 || batch_.lost() != 0; }

  // The batch so far; a new one begins.
  SampleBatch Take();

 private:
  void Reset();

  const uint32_t metric_set_;
  const std::string device_uuid_;
  const uint64_t interval_ns_;
  const std::vector<double> resolutions_;
  SampleBatch batch_;
  uint64_t last_end_ns_ = 0;
  std::vector<int64_t> last_;  // by metric: the integer before
  std::vector<int64_t> current_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_SAMPLE_BATCH_ENCODER_H_
