// One GPU's counters over a run: takes them, samples in windows, alternates the metric sets, gives
// them up when asked, and tries again when somebody else has them. A state machine that is stepped;
// it never waits.
//
// While power limits the GPU's clock, counters that are set cost it (power_account.h). Where
// windows are planned the session therefore rests between bursts of them: it stays kReady, gives
// the counters up, and sets them again shortly before the next window that is planned.
//
//   kBlocked ──taken──▶ kReady ──a window is due──▶ kSampling
//   kSampling ──the window ends──▶ kStopped ──it is read──▶ kReady
//   kReady, kStopped, kBlocked ──failure──▶ kBlocked, or kDead where no time will help
//   all but kDead ──Yield──▶ kYielded ──Resume──▶ kBlocked
//
// device_counters.h has the counters themselves, window_plan.h and window_schedule.h when a window
// is due, set_turns.h which set it samples, retry_pace.h when to try again.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTER_SESSION_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTER_SESSION_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "collector/sampler/counters/source_reason.h"
#include "collector/sampler/counters/window_activity.h"
#include "collector/sampler/device_counters.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "collector/sampler/driver/cupti_table.h"
#include "collector/sampler/power_account.h"
#include "collector/sampler/retry_pace.h"
#include "collector/sampler/set_turns.h"
#include "collector/sampler/window_plan.h"
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

struct CounterSessionOptions : DeviceCountersOptions {
  WindowScheduleOptions schedule;
  WindowPlanning planning;
  uint32_t power_loss_ppm = 0;  // SamplerOptions
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

  // Does what is due; a window is begun only if `may_begin`. `beside`: another GPU is sampled
  // meanwhile. Times are monotonic nanoseconds.
  void Step(uint64_t now_ns, bool may_begin, bool beside = false);
  // Stops a window that is due to end, in a millisecond or two. Step() then reads what it counted,
  // which takes tens of them.
  void StopWhenDue(uint64_t now_ns);
  // Stops a window whether it is due to end or not.
  void StopNow(uint64_t now_ns);
  // When to step next; UINT64_MAX: only after a command.
  uint64_t next_step_ns() const;

  bool sampling() const { return state_ == State::kSampling; }
  // A window has been stopped, and what it counted is yet to be read.
  bool stopped() const { return state_ == State::kStopped; }
  // Whether its windows may be under way while another GPU's are: they are planned, and none of
  // them has failed that way.
  bool samples_beside_others() const { return planning_.planned && !samples_alone_; }
  // When the last window began; 0: there was none.
  uint64_t window_begin_ns() const { return window_.begin_ns; }
  // Counters are ours, or were given up on request; else reason() says why not.
  bool works() const;
  const SourceReason& reason() const { return reason_; }
  const CounterStatistics& statistics() const { return statistics_; }
  const std::string& chip() const { return counters_.chip(); }

  // Counters are not to be had here, now or later.
  bool hopeless() const { return state_ == State::kDead; }
  // Another utlz has the counters.
  bool leased_elsewhere() const { return counters_.leased_elsewhere(); }
  // Readable when another sampler asks for a share; -1: none can.
  int listener() const { return counters_.listener(); }

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
  // How many GPUs this process serves. It sets their counters one after the other.
  void SetGpus(size_t gpus) { gpus_ = gpus; }
  // Whether power limits the GPU's clock, as NVML says several times a second.
  void SetPowerLimited(uint64_t now_ns, bool limited);
  // What counters that were set have cost the GPU meanwhile.
  double set_counters_cost_ns() const { return power_.lost_ns(); }
  void SetIdleCpu(uint64_t now_ns, uint32_t ppm) { schedule_.SetIdleCpu(now_ns, ppm); }
  // CPU time that collectors took for what was sampled here.
  void SpentByCollectors(uint64_t now_ns, uint64_t cpu_ns) {
    schedule_.SpentByCollectors(now_ns, cpu_ns);
  }
  SamplerWindow PlannedWindow() const;
  // Another utlz gave the counters up: try at once.
  void RetryAt(uint64_t time_ns) { retry_.At(time_ns); }

 private:
  enum class State { kBlocked, kReady, kSampling, kStopped, kYielded, kDead };

  // The one that is under way, or the last one.
  struct Window {
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;  // when it is to end
    uint64_t on_ns = 0;   // how long it was under way
    uint64_t cpu_ns = 0;  // that starting and stopping it took
    bool beside = false;  // another GPU was sampled as it began
  };

  uint64_t WindowNs() const;
  void TryTake(uint64_t now_ns);
  void Block(uint64_t now_ns, const absl::Status& status);
  // Sets them to the set that is next, unless they are.
  absl::Status SetCounters(uint64_t now_ns);
  bool IsToSetCounters() const;
  // Whether the counters are not worth their cost until the next window.
  bool IsToRest(uint64_t now_ns) const;
  void Rest(uint64_t now_ns);
  // Ends a rest, and sets the counters unless they are.
  void PrepareCounters(uint64_t now_ns);
  // When the next window may begin.
  uint64_t ReadyNs(uint64_t now_ns) const;
  // How long before a window the session sets counters that rest.
  uint64_t LeadNs() const;
  void BeginWindow(uint64_t now_ns, bool beside);
  // A window beside another GPU's has failed: windows begin alone from now on.
  void SampleAlone(uint64_t now_ns);
  // With planned windows: does what a window needs beforehand, and says when it may come.
  void GetReady(uint64_t now_ns);
  void GetReadySooner(uint64_t now_ns, uint64_t before_ns);
  SamplerReady Ready(uint64_t now_ns) const;
  void ReadWindow(uint64_t now_ns);
  void EndWindow(uint64_t now_ns);
  absl::Status CheckWindow(const WindowResult& window, uint64_t interval_ns);
  bool CountWindow(const WindowActivity& activity);

  const CudaDevice& device_;
  const FrameSink sink_;
  DeviceCounters counters_;
  WindowSchedule schedule_;
  WindowPlanning planning_;
  WindowPlan plan_;
  SetTurns turns_;
  RetryPace retry_;
  PowerAccount power_;
  bool rests_ = false;
  bool samples_alone_ = false;
  size_t gpus_ = 1;
  uint64_t setting_took_ns_ = 0;  // the last time
  uint64_t announced_ns_ = 0;     // from when on it offered a window; 0: not since the last one
  State state_ = State::kBlocked;
  Window window_;
  SourceReason reason_;
  CounterStatistics statistics_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTER_SESSION_H_
