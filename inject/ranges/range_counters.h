// CUPTI's Range Profiler for one context: user ranges, user replay, one pass. The calls in their
// order, without any policy. Setting up stalls the target's own CUDA calls for some 0.2 s on the
// first start (docs/measurements/overhead.md); pushing and popping wait for the context.
#ifndef UTLZ_INJECT_RANGES_RANGE_COUNTERS_H_
#define UTLZ_INJECT_RANGES_RANGE_COUNTERS_H_

#include <cstdint>

#include "inject/driver/cupti_api.h"

namespace utlz::agent {

class RangeCounters {
 public:
  // While ranges are taken, CUPTI holds 1.5 MB of memory for each (docs/measurements/overhead.md,
  // memory).
  static constexpr uint32_t kMaxRanges = 64;
  static constexpr uint32_t kMaxMetrics = 16;

  // Loads the libraries that CUPTI and the driver would load in the calls below: so one can know
  // when they all are there. Agent's thread.
  bool Load(const CuptiApi* api);
  // Chooses metrics that the chip counts in one pass and makes their configuration. Agent's thread.
  bool Configure(uint32_t device_index);
  // The same for a chip by its name, which needs no GPU.
  bool ConfigureFor(const char* chip);
  // Enables and starts in a context. Agent's thread. False with the reason in last_error().
  bool Start(cupti::Context context);
  // Only where the context is idle, on the thread that found it so.
  bool Push(uint32_t index);
  bool Pop();
  bool Stop();
  // After Stop. `values` has metrics() numbers. Agent's thread.
  bool Decode();
  uint32_t Ranges();
  bool Evaluate(uint32_t range, double* values);
  // Gives back whatever the calls above took, also after one that failed; not while a range is
  // open. Agent's thread.
  void Release();

  uint32_t metrics() const { return metrics_; }
  const char* metric(uint32_t index) const { return names_[index]; }
  cupti::Result last_error() const { return last_error_; }

 private:
  bool Ok(cupti::Result result);
  bool AddMetric(const char* name, const char* chip);
  bool BuildConfig(const char* chip);
  bool OnePass(const char* chip);
  void ReleaseHost();

  const CuptiApi* api_ = nullptr;
  cupti::HostObject* host_ = nullptr;
  void* profiler_ = nullptr;
  const char* names_[kMaxMetrics] = {};
  uint32_t metrics_ = 0;
  uint8_t* config_ = nullptr;
  size_t config_bytes_ = 0;
  uint8_t* counter_data_ = nullptr;
  size_t counter_data_bytes_ = 0;
  // Nothing is to be given back until Load has loaded it.
  bool had_host_library_ = true;
  bool had_compiler_ = true;
  cupti::Result last_error_ = cupti::kSuccess;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RANGES_RANGE_COUNTERS_H_
