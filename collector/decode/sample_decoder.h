// Turns a SampleBatch (profile.proto) into samples: one row of metric values a sampling interval.
#ifndef UTLZ_COLLECTOR_DECODE_SAMPLE_DECODER_H_
#define UTLZ_COLLECTOR_DECODE_SAMPLE_DECODER_H_

#include <cstdint>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

inline constexpr uint32_t kMaxSamplesPerBatch = 1u << 20;
inline constexpr int kMaxMetrics = 64;

struct DecodedSamples {
  std::vector<uint64_t> start_ns;
  std::vector<uint64_t> end_ns;
  std::vector<double> values;  // [sample × metrics + metric], in the metric's own unit
  uint32_t metrics = 0;

  size_t size() const { return start_ns.size(); }
  const double* row(size_t sample) const { return values.data() + sample * metrics; }
};

// False if the batch does not agree with itself or with `set`. `decoded` is overwritten.
bool DecodeSamples(const SampleBatch& batch, const MetricSet& set, DecodedSamples* decoded);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_SAMPLE_DECODER_H_
