// One GPU's counters over a run: takes them, samples in windows, alternates the metric sets, gives
// them up when asked, and tries again when somebody else has them. A state machine that is stepped;
// it never waits.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTER_SESSION_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTER_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/sampler/counters/metric_set_samples.h"
#include "collector/sampler/counters/pm_sampler.h"
#include "collector/sampler/counters/source_reason.h"
#include "collector/sampler/counters/window_activity.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "collector/sampler/driver/cupti_table.h"
#include "collector/sampler/set_turns.h"
#include "collector/sampler/sharing/device_lease.h"
#include "collector/sampler/window_schedule.h"
#include "proto/sampler.pb.h"

namespace utlz {

// Whether windows begin when asked to (WindowAt), having said by FRAME_SAMPLER_READY when
// they can, or by themselves.
struct WindowPlanning {
  bool planned = false;
  // Somebody makes use of windows that nobody planned: one that is long in coming begins by itself.
  bool always_wanted = true;

  friend bool operator==(const WindowPlanning&, const WindowPlanning&) = default;
};

struct CounterSessionOptions {
  PmSamplerOptions sampler;
  uint64_t interval_ns = kUsualIntervalNs;  // of the base set's samples
  WindowScheduleOptions schedule;
  WindowPlanning planning;
  std::string lease_folder;
};

struct CounterStatistics {
  uint64_t samples = 0;
  uint64_t lost = 0;
  uint64_t windows = 0;
  uint64_t sampling_ns = 0;
  double busy_cycles = 0;  // elapsed SM cycles and time of the samples of windows with work in them
  double busy_ns = 0;
};

// Not thread-safe. Table and device must outlive it.
class CounterSession {
 public:
  CounterSession(const CuptiTable& table, const CudaDevice& device,
                 const CounterSessionOptions& options, FrameSink sink, uint64_t now_ns);
  ~CounterSession();

  // Does what is due; a window is begun only if `may_begin`. Times are monotonic nanoseconds.
  void Step(uint64_t now_ns, bool may_begin);
  // When to step next; UINT64_MAX: only after a command.
  uint64_t next_step_ns() const;

  bool sampling() const { return state_ == State::kSampling; }
  // Counters are ours, or were given up on request; else reason() says why not.
  bool works() const;
  const SourceReason& reason() const { return reason_; }
  const CounterStatistics& statistics() const { return statistics_; }
  const std::string& chip() const { return chip_; }

  // Counters are not to be had here, now or later.
  bool hopeless() const { return state_ == State::kDead; }
  // Another utlz has the counters.
  bool leased_elsewhere() const { return leased_elsewhere_; }
  // Readable when another sampler asks for a share; -1: none can.
  int listener() const { return lease_.has_value() ? lease_->listener() : -1; }

  // For a subscriber that joins: the metric sets so far, and the window that is to come.
  void SendDescriptions(const FrameSink& sink) const;

  // A window that is under way ends now.
  void CutWindow(uint64_t now_ns);
  void Yield(uint64_t now_ns);
  void Resume(uint64_t now_ns);
  void SetDuty(uint64_t now_ns, uint32_t duty_ppm);
  void SetCpuBudget(uint64_t now_ns, uint32_t ppm) { schedule_.SetCpuBudget(now_ns, ppm); }
  // CPU time that something beside windows took, of the same budget.
  void Spent(uint64_t cpu_ns) { schedule_.Spent(cpu_ns); }
  void RequestWindow(uint64_t now_ns);
  // With planned windows: begin one at `begin_ns`, or when somebody else asked for it if that is
  // later. Returns when it is to begin, UINT64_MAX: there is none to plan. One that cannot begin in
  // time is left out.
  uint64_t WindowAt(uint64_t now_ns, uint64_t begin_ns);
  void SetPlanning(uint64_t now_ns, const WindowPlanning& planning);
  // What collectors know of the load: SamplingProgress.
  void SetProgress(uint64_t now_ns, uint64_t progress);
  void SetIdleCpu(uint64_t now_ns, uint32_t ppm) { schedule_.SetIdleCpu(now_ns, ppm); }
  SamplerWindow PlannedWindow() const;
  // Another utlz gave the counters up: try at once.
  void RetryAt(uint64_t time_ns) { retry_ns_ = time_ns; }

 private:
  enum class State { kBlocked, kReady, kSampling, kYielded, kDead };

  absl::Status Take();
  absl::Status SelectSets();
  uint64_t WindowNs() const;
  void TryTake(uint64_t now_ns);
  void Block(uint64_t now_ns, const absl::Status& status);
  void BeginWindow(uint64_t now_ns);
  absl::Status ConfigureNextSet();
  absl::Status Configure(size_t set);
  // With planned windows: does what a window needs beforehand, and says when it may come.
  void GetReady(uint64_t now_ns);
  void GetReadySooner(uint64_t now_ns, uint64_t before_ns);
  SamplerReady Ready() const;
  void EndWindow(uint64_t now_ns);
  absl::Status CheckWindow(const WindowResult& window, uint64_t on_ns, uint64_t interval_ns);
  bool CountWindow(const WindowActivity& activity, uint64_t on_ns);
  size_t SetOfNextWindow() const;

  const CuptiTable& table_;
  const CudaDevice& device_;
  const CounterSessionOptions options_;
  const FrameSink sink_;
  WindowSchedule schedule_;
  State state_ = State::kBlocked;
  SourceReason reason_;
  CounterStatistics statistics_;
  std::string chip_;
  std::optional<DeviceLease> lease_;
  std::unique_ptr<PmSampler> sampler_;
  std::vector<MetricSetSamples> sets_;  // base, then extended where it differs
  std::optional<size_t> configured_set_;
  WindowPlanning planning_;
  uint64_t planned_ns_;    // UINT64_MAX: none
  uint64_t unplanned_ns_;  // when one begins that nobody planned; UINT64_MAX: never
  bool leased_elsewhere_ = false;
  bool cut_ = false;  // the last window ended early, and the next is not prepared yet
  uint64_t window_begin_ns_ = 0;
  uint64_t window_end_ns_ = 0;
  uint64_t window_cpu_ns_ = 0;
  SetTurns turns_;
  uint64_t retry_ns_ = 0;
  uint64_t retry_pause_ns_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTER_SESSION_H_
