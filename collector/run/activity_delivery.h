// Hands what ran on each device to those who account for it, in the order in which it started.
//
// Records of several processes come in no order, so devices hold theirs (ActivitySorter) until no
// earlier one can come. When that is so is decided here. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_ACTIVITY_DELIVERY_H_
#define UTLZ_COLLECTOR_RUN_ACTIVITY_DELIVERY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "collector/run/run_state.h"
#include "collector/run/step_kernel.h"

namespace utlz {

class ActivityDelivery {
 public:
  // Records of one process come unordered by about this much.
  static constexpr uint64_t kWatermarkSlackNs = 3'000'000'000;

  // The state must outlive it. Launches of kernels of this name begin steps; empty: none do.
  ActivityDelivery(RunState* state, std::string step_kernel)
      : state_(state), step_kernel_(std::move(step_kernel)) {}

  // Measures what the attribution of samples takes: nanoseconds of this thread's CPU time. Without
  // one it is not measured.
  void MeasureBy(std::function<uint64_t()> cpu_clock) { cpu_clock_ = std::move(cpu_clock); }

  // Attributes samples in up to so many threads, a device each. One, unless no job runs beside.
  void UseThreads(unsigned threads) { threads_ = threads; }

  // Frames of processes came that are this long.
  void CountBytes(size_t bytes) { bytes_since_look_ += bytes; }
  // Devices that hold many records hand over those that are in order. Call this after records.
  void ReleaseFull();
  // All devices hand over what is in order.
  void Advance();
  // No more records will come.
  void ReleaseAll();

 private:
  void ReleaseHalfOfEach();
  void ReleaseEach(uint64_t watermark_ns);
  void ReleaseDevice(uint32_t index, uint64_t watermark_ns);
  void Place(uint32_t index, uint64_t watermark_ns);
  void Attribute(uint32_t index);
  void DeliverUntraced(std::span<const Activity> released, uint32_t index);
  void Deliver(const Activity& activity, uint32_t index);

  RunState* state_;
  StepKernel step_kernel_;
  size_t bytes_since_look_ = 0;
  std::function<uint64_t()> cpu_clock_;
  unsigned threads_ = 1;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_ACTIVITY_DELIVERY_H_
