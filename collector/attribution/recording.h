// Launches and samples in the engine's own form: checked, in order, with variants numbered densely.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_RECORDING_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace utlz::attribution {

struct Launch {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  // How far the launch's traffic may show beyond its end: up to the next launch's start, since
  // write-back goes on for a while, but no later work can be separated from it.
  int64_t tail_end_ns = 0;
  uint32_t variant = 0;  // index into VariantTable
};

struct Sample {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Launches sorted by start; samples sorted, without overlap; one row of values for each sample.
struct Recording {
  std::vector<Launch> launches;
  std::vector<Sample> samples;
  std::vector<double> values;
  size_t counters = 0;

  std::span<const double> Values(size_t sample) const {
    return std::span<const double>(values).subspan(sample * counters, counters);
  }
  void Clear() {
    launches.clear();
    samples.clear();
    values.clear();
  }
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_RECORDING_H_
