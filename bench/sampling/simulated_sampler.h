// The sampler of a simulated run: its real accounts and turns (WindowSchedule, PowerAccount,
// SetTurns) on the simulation's clock, with what CUPTI's calls took on an H200 in place of CUPTI.
#ifndef UTLZ_BENCH_SAMPLING_SIMULATED_SAMPLER_H_
#define UTLZ_BENCH_SAMPLING_SIMULATED_SAMPLER_H_

#include <cstdint>
#include <optional>

#include "collector/sampler/power_account.h"
#include "collector/sampler/set_turns.h"
#include "collector/sampler/window_schedule.h"

namespace utlz {

// CPU time, as measured (docs/measurements/sampling.md).
struct SamplerCosts {
  uint64_t setup_ns = 500'000'000;      // until the first window can begin
  uint64_t configure_ns = 200'000'000;  // another set, or counters that rested
  uint64_t window_ns = 2'000'000;       // starting, stopping, the image of a window
  uint64_t base_sample_ns = 38'000;
  uint64_t extended_sample_ns = 75'000;
  uint64_t totals_ns = 1'300'000;  // NVML's readings, every 0.2 s
};

struct SampledWindow {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  SampledSet set = SampledSet::kBase;

  uint64_t interval_ns() const { return set == SampledSet::kBase ? 10'000 : 11'500; }
};

class SimulatedSampler {
 public:
  // `blind_to_records`: as it was before it knew of records that end.
  SimulatedSampler(const WindowScheduleOptions& options, const SamplerCosts& costs,
                   bool blind_to_records);

  // Does what is due at `now_ns`. Returns a window that has ended; the caller then reports by
  // Read() what it brought.
  std::optional<SampledWindow> Step(uint64_t now_ns);
  // What a window brought: how many samples, and whether the GPU computed or copied.
  void Read(uint64_t now_ns, uint64_t samples, bool busy);
  void Request(uint64_t now_ns);
  void WindowAt(uint64_t begin_ns);
  void Progress(uint64_t now_ns, uint64_t progress);
  // Power limits the GPU's clock, as NVML says.
  void PowerLimits(uint64_t now_ns);

  // Once after it got ready: when the next window may begin. `window_ns()`: how long it would be.
  std::optional<uint64_t> TakeReady();
  uint64_t window_ns() const;
  uint64_t lead_ns() const { return rests_ ? costs_.configure_ns : 0; }
  double lost_ns() const { return power_.lost_ns(); }

  uint64_t cpu_ns() const { return cpu_ns_; }
  uint64_t sampled_ns() const { return sampled_ns_; }
  const WindowSchedule& schedule() const { return schedule_; }
  WindowSchedule* mutable_schedule() { return &schedule_; }

 private:
  void Spend(uint64_t cpu_ns);
  void GetReady(uint64_t now_ns);
  bool IsToRest(uint64_t now_ns) const;
  void GetReadySooner(uint64_t now_ns, uint64_t before_ns);

  const SamplerCosts costs_;
  WindowSchedule schedule_;
  SetTurns turns_;
  PowerAccount power_;
  bool rests_ = false;
  uint64_t announced_ns_ = 0;
  SampledSet configured_ = SampledSet::kBase;
  std::optional<SampledWindow> window_;    // planned, or under way
  std::optional<uint64_t> ready_ns_;       // not taken yet
  std::optional<uint64_t> busy_until_ns_;  // setting up, decoding, configuring
  uint64_t next_totals_ns_ = 0;
  uint64_t cpu_ns_ = 0;
  uint64_t sampled_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_BENCH_SAMPLING_SIMULATED_SAMPLER_H_
