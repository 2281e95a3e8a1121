// When the agent traces: as its budget allows, in windows that the collector plans and for new
// work, and while nobody else has CUPTI's buffers.
//
//   request, budget, planned windows, new work ──▶ Follow() ──▶ TraceSwitch on or off
//
// A window opens and closes with its stacks, its entry in the account of what windows cost, and the
// gap in the count of operations.
//
// The agent calls it in a turn of its thread (turns.h), or in InitializeInjection. Another client's
// thread calls GiveUpStacks and StopWatchingNewWork too. The thread that ends the process calls
// GiveUpStacks, EndGap, CountToTheEnd and SendStatus.
#ifndef UTLZ_INJECT_TRACING_TRACE_PACER_H_
#define UTLZ_INJECT_TRACING_TRACE_PACER_H_

#include <atomic>
#include <cstdint>

#include "inject/base/ring_writer.h"
#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"
#include "inject/record/record_intake.h"
#include "inject/reports/agent_reports.h"
#include "inject/tracing/cupti_client.h"
#include "inject/tracing/host_cost.h"
#include "inject/tracing/late_records.h"
#include "inject/tracing/late_window.h"
#include "inject/tracing/later_windows.h"
#include "inject/tracing/new_work_windows.h"
#include "inject/tracing/stack_windows.h"
#include "inject/tracing/trace_budget.h"
#include "inject/tracing/trace_request.h"
#include "inject/tracing/trace_switch.h"
#include "inject/tracing/window_cost.h"

namespace utlz::agent {

class TracePacer {
 public:
  // What it traces with. All must outlive it.
  struct Parts {
    const CuptiApi& cupti;
    const CudaApi& cuda;
    RingWriter& ring;
    RecordIntake& intake;
    AgentReports& reports;
    CuptiClient& client;
    const TraceRequest& request;
  };
  explicit TracePacer(const Parts& parts);

  // For another collector, whose account is `budget`.
  void Restart(const TraceBudget& budget);
  // Begins, as the request says. What CUPTI refused: nothing is on.
  cupti::Result Start(bool calibration_due);
  // The request has another budget.
  void StartBudget(uint64_t now_ns) { budget_.Start(now_ns, request_.budget_ppm); }

  // Each turn: switches tracing on and off as the account allows. Ranges need it on throughout:
  // `calibration_due`.
  void Follow(uint64_t now_ns, bool calibration_due);
  void FollowNewContexts();
  void FollowStacks(uint64_t now_ns, bool calibration_due);
  // Where stacks are asked for. Each second: modules come while a program runs.
  void WatchCaptures();
  // Any thread.
  bool watches_captures() const { return watches_captures_.load(std::memory_order_relaxed); }
  // With the turn's lock, on the thread that captures.
  void OnCapture(CaptureEvent event, bool calibration_due);
  // How long until the next turn: planned windows begin and end in time.
  uint64_t PauseNs(uint64_t now_ns) const;
  // Whether records are needed soon: what they tell decides when the beginning ends.
  bool Begins() const { return trace_.on() && later_.state() == RecordsState::kFromStart; }

  // Ends the window. The agent sends `reason`, a literal or null, with the next window's frame.
  void Stop(const char* reason);
  // The thread that would follow could not be started.
  void Abandon() { trace_.Off(nullptr); }
  // Another client has taken the buffers: the window ended when records were last handed over.
  void Lose();
  // The request is over: ends the window. True while threads have still to leave launching calls
  // that CUPTI calls back for, up to LaunchCallbacks::kMostLaunchNs; call it again in a moment.
  bool LeaveLaunches(uint64_t now_ns);
  // After that: switches tracing off and takes what is still under way.
  void Drain();
  // Ends a gap that nothing follows.
  void EndGap();
  // At exit: what ran since the last window, or since the one before if nothing runs any more in
  // this one, has no record. But a call of ours that launches nothing has the next number.
  void CountToTheEnd();
  // Has new work reported, or no more, as the request says.
  void WatchNewWork() { new_work_.Watch(request_, client_.taken()); }
  void StopWatchingNewWork() { new_work_.StopWatching(); }
  void GiveUpStacks() { stacks_.GiveUp(); }

  void SendStatus() { reports_.SendStatus(Status()); }
  TracingStatus Status() const;
  bool on() const { return trace_.on(); }
  uint32_t flags() const { return trace_.flags(); }
  // Whether there may be some, although nothing is traced.
  bool ExpectsLateRecords() const { return late_records_.expected(); }
  StackWindows& stacks() { return stacks_; }

 private:
  PlannedWindow NextWindow(uint64_t now_ns) const;
  WorkSums RecentWorkBefore(uint64_t realtime_ns);
  bool Affordable(uint64_t now_ns, const RecorderCounts& counts);
  Beginning BeginningNow();
  void FollowLaterWindows(uint64_t now_ns);
  void DecideLaterWindows(uint64_t now_ns, uint32_t known_kernels);
  void BeginWindow(bool calibration_due);
  void SwitchOn(bool calibration_due);
  void OpenStacks(bool calibration_due);
  bool SamplesThreads() const;
  void LearnCost();
  void LearnHook(uint64_t now_ns);
  void ReckonHostCost();
  bool MayPause();

  const CuptiApi& cupti_;
  const CudaApi& cuda_;
  RingWriter& ring_;
  RecordIntake& intake_;
  Recorder& recorder_;
  AgentReports& reports_;
  CuptiClient& client_;
  const TraceRequest& request_;
  TraceSwitch trace_;
  TraceBudget budget_;
  WindowCost window_cost_;
  HostCost host_cost_;
  LaterWindows later_;
  NewWorkWindows new_work_;
  StackWindows stacks_;
  std::atomic<bool> watches_captures_{false};
  LateRecords late_records_;
  LateWindow late_window_;
  uint64_t first_paused_ns_ = 0;  // when records were switched off for the first time; 0: never
  uint64_t first_paused_realtime_ns_ = 0;
  bool hook_known_ = false;
  uint64_t loads_seen_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_TRACE_PACER_H_
