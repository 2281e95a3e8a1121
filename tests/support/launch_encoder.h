// The inverse of LaunchDecoder, straight from the rules in profile.proto; for tests.
#ifndef UTLZ_TESTS_SUPPORT_LAUNCH_ENCODER_H_
#define UTLZ_TESTS_SUPPORT_LAUNCH_ENCODER_H_

#include <map>
#include <vector>

#include "collector/decode/launch_decoder.h"

namespace utlz {

inline void EncodeVariants(const std::vector<Launch>& launches, LaunchBatch* batch) {
  std::map<uint32_t, uint32_t> next;
  uint32_t previous = 0;
  uint32_t predicted = 0;
  for (const Launch& launch : launches) {
    if (next[previous] == launch.variant) {
      ++predicted;
    } else {
      batch->add_run_predicted(predicted);
      batch->add_run_variant(launch.variant);
      next[previous] = launch.variant;
      predicted = 0;
    }
    previous = launch.variant;
  }
  if (predicted > 0) batch->add_run_predicted(predicted);
}

inline void EncodeTimes(const std::vector<Launch>& launches, LaunchBatch* batch) {
  std::map<uint32_t, int64_t> last_gap;
  std::map<uint32_t, int64_t> last_duration;
  uint64_t previous_end = launches.empty() ? 0 : launches.front().start_ns;
  batch->set_base_ns(previous_end);
  for (const Launch& launch : launches) {
    const auto gap = static_cast<int64_t>(launch.start_ns - previous_end);
    const auto duration = static_cast<int64_t>(launch.end_ns - launch.start_ns);
    batch->add_gap_residual(gap - last_gap[launch.variant]);
    batch->add_duration_residual(duration - last_duration[launch.variant]);
    last_gap[launch.variant] = gap;
    last_duration[launch.variant] = duration;
    previous_end = launch.end_ns;
  }
}

// One run of literals, whatever could be predicted.
inline void EncodeStacks(const std::vector<Launch>& launches, LaunchBatch* batch) {
  bool any = false;
  for (const Launch& launch : launches) any = any || launch.stack != 0;
  if (!any) return;
  batch->add_stack_predicted(0);
  batch->add_stack_literal(static_cast<uint32_t>(launches.size()));
  uint32_t previous = 0;
  for (const Launch& launch : launches) {
    batch->add_stack_delta(static_cast<int32_t>(launch.stack - previous));
    previous = launch.stack;
  }
}

inline LaunchBatch EncodeLaunches(const DecodedLaunches& decoded) {
  LaunchBatch batch;
  batch.set_launches(static_cast<uint32_t>(decoded.launches.size()));
  EncodeVariants(decoded.launches, &batch);
  EncodeTimes(decoded.launches, &batch);
  for (const LaunchSegment& segment : decoded.segments) {
    batch.add_segment_launches(segment.launches);
    batch.add_segment_stream(segment.stream);
    batch.add_segment_context(segment.context);
    batch.add_segment_correlation(segment.graph_correlation);
  }
  bool correlated = false;
  for (const Launch& launch : decoded.launches) correlated = correlated || launch.correlation != 0;
  int64_t previous = 0;
  for (const Launch& launch : decoded.launches) {
    if (!correlated) break;
    batch.add_correlation_delta(int64_t{launch.correlation} - previous);
    previous = launch.correlation;
  }
  EncodeStacks(decoded.launches, &batch);
  batch.set_untimed_operations(decoded.untimed_operations);
  for (const UntimedLaunches& untimed : decoded.untimed) {
    batch.add_untimed_variant(untimed.variant);
    batch.add_untimed_launches(untimed.launches);
  }
  return batch;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_LAUNCH_ENCODER_H_
