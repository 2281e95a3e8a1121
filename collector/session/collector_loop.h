// The loop of a session's thread: waits for agents, rings, the sampler and orders; reads them all.
//
// Rings are polled, every 2 ms while something comes and seldom when nothing does: an agent makes
// no system call to hand its records over.
//
// Thread safety: Run() on one thread; Wake(), AwaitReady() and the setters from any.
#ifndef UTLZ_COLLECTOR_SESSION_COLLECTOR_LOOP_H_
#define UTLZ_COLLECTOR_SESSION_COLLECTOR_LOOP_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/ingest/agent_listener.h"
#include "collector/session/agent_table.h"
#include "collector/session/checkpoint_schedule.h"
#include "collector/session/clock_reading.h"
#include "collector/session/code_search.h"
#include "collector/session/counter_arbiter.h"
#include "collector/session/live_source.h"
#include "collector/session/metrics_source.h"
#include "collector/session/run_recorder.h"
#include "collector/session/sampler_feed.h"
#include "collector/session/sampling_pace.h"
#include "collector/session/session_options.h"
#include "collector/session/session_progress.h"
#include "collector/session/steady_work.h"
#include "collector/session/step_watch.h"
#include "collector/session/trace_schedule.h"
#include "collector/session/window_planner.h"
#include "collector/unique_fd.h"

namespace utlz {

class CollectorLoop {
 public:
  using Clock = std::chrono::steady_clock;

  static absl::StatusOr<std::unique_ptr<CollectorLoop>> Make(const SessionOptions& options,
                                                             AgentListener listener,
                                                             ProfileWriter writer);

  // Returns some time after AskToStop(): at once where no agent is left, else when they have ended
  // or the grace is over.
  void Run();

  // Until Run() has started the sampler.
  void AwaitReady() const { ready_.wait(false); }
  void AskToStop();
  void AddAgent(UniqueFd connection, pid_t pid);
  void AddHandshake(AgentHandshake handshake);
  // An agent whose handshake is yet to be answered counts as one that lives.
  SessionProgress progress() const {
    const uint64_t handed_over = handed_over_;  // before those that it may have become
    return {admitted_agents_, live_agents_ + handed_over, launches_};
  }
  void AskForState(AgentState state);  // overrides the schedule

  // After Run() only.
  RunRecorder& recorder() { return recorder_; }
  uint64_t agents() const { return agents_.admitted(); }
  // Those that came, and were refused or not answered in time.
  uint64_t agents_left_out() const;
  uint64_t cpu_ns() const { return cpu_ns_; }
  std::vector<std::string> Notices();
  // The last snapshot of the run's metrics, once its end is recorded.
  void PublishLastMetrics() { metrics_.PublishLast(&recorder_, cpu_ns_); }

 private:
  CollectorLoop(const SessionOptions& options, AgentListener listener, ProfileWriter writer,
                UniqueFd epoll, UniqueFd wake);

  void Wake();
  void Turn(std::chrono::milliseconds wait);
  // Of this thread and of studies.
  uint64_t CpuNs() const;
  void Dispatch(uint64_t tag);
  void ApplyRequest(Clock::time_point now);
  void Calibrate(Clock::time_point now);
  void PaceSampling();
  std::set<std::string> SampledSeldom(const std::vector<std::string>& in_use) const;
  std::set<std::string> SampledAtOnce(const std::vector<std::string>& in_use) const;
  bool SharesSampler(const std::string& device_uuid) const;
  void LookForSteadyWork();
  void LookAtSteps();
  void SendProgress(uint64_t now_ns);
  void LookForCode();
  void RecordCode(const KernelCodeRecord& record);
  void SendSpending();
  void PublishMetrics();
  void ReportAlarm(const Alarm& alarm, uint64_t now_ns);
  void PlanWindows();
  void SendWindowToAgents(const DeviceWindow& window, const ClockReading& now);
  void TraceAlong(const std::string& device_uuid, uint64_t begin_ns, uint64_t window_ns);
  AgentState WantedState(Clock::time_point now) const;
  std::chrono::milliseconds NextWait(Clock::time_point now) const;
  // Returns how many handshakes were answered.
  uint64_t TakeInAdded(Clock::time_point now);
  void OnAgentFrame(uint32_t source, uint16_t type, std::string_view payload);
  bool StoppingIsOver(Clock::time_point now);

  const SessionOptions options_;
  AgentListener listener_;
  RunRecorder recorder_;
  UniqueFd epoll_;
  UniqueFd wake_;
  SamplerFeed sampler_;
  AgentTable agents_;
  TraceSchedule schedule_;
  CounterArbiter calibration_;
  AgentRequest request_;
  WindowPlanner planner_;
  SamplingPace pace_;
  SteadyWork steady_work_;
  StepWatch steps_;
  std::chrono::milliseconds pause_;
  MetricsSource metrics_;
  LiveSource live_;
  CodeSearch code_search_;
  Clock::time_point next_flush_;
  CheckpointSchedule checkpoints_{Clock::now()};
  std::optional<Clock::time_point> stop_asked_;
  std::optional<Clock::time_point> sleep_asked_;
  uint64_t cpu_ns_ = 0;
  bool has_work_ = false;    // something was launched or copied
  bool has_ranges_ = false;  // some agent counted one
  std::atomic<bool> ready_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int> state_override_{-1};
  std::atomic<uint64_t> admitted_agents_{0};  // written after live_agents_, read before it
  std::atomic<uint64_t> live_agents_{0};
  std::atomic<uint64_t> launches_{0};
  std::atomic<uint64_t> handed_over_{0};  // handed over by AddHandshake(), and not yet in the table
  std::mutex added_mutex_;
  std::vector<std::pair<UniqueFd, pid_t>> added_;  // guarded by added_mutex_
  std::vector<AgentHandshake> added_handshakes_;   // the same
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_COLLECTOR_LOOP_H_
