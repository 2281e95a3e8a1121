// One recording for one collector: its ring, what traces into it, and the turns in which the agent
// follows the collector's requests. An agent of `utlz run` has one; an agent that waits for tools,
// or follows a service, has one after another.
//
// The agent calls CreateRecorder, StartCupti and StartTracing in a turn of its thread (turns.h) or
// in InitializeInjection, and Restart, Turn, LeaveLaunches, EndTracing and End in a turn. The
// thread that ends the process calls EndRangesAtExit and HandOverAtExit. CUPTI calls the callbacks
// on any thread.
#ifndef UTLZ_INJECT_RECORDING_H_
#define UTLZ_INJECT_RECORDING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/base/ring_writer.h"
#include "inject/base/turns.h"
#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"
#include "inject/ranges/range_session.h"
#include "inject/record/record_intake.h"
#include "inject/reports/agent_reports.h"
#include "inject/tracing/cupti_client.h"
#include "inject/tracing/trace_pacer.h"
#include "inject/tracing/trace_request.h"
#include "proto/ring_abi.h"

namespace utlz::agent {

class Recording {
 public:
  explicit Recording(Turns& turns);

  // Collectors come and go from now on. One that wants no more records does not end the agent.
  void ServeAttachments() { serves_attachments_ = true; }
  bool serves_attachments() const { return serves_attachments_; }

  // Agent, ServiceFollower or AttachmentServer fills these in when it meets a collector.
  RingWriter& ring() { return ring_; }
  AgentWelcome* welcome() { return &welcome_; }

  // Takes memory, once. False: the agent is off.
  bool CreateRecorder();
  // For another collector, which may be the first: as if nothing had been recorded yet.
  bool Restart(const TraceBudget& budget);
  // Loads CUPTI, or goes on with it. False: the agent is off.
  bool StartCupti(const BroughtCupti& brought);
  // Traces as the welcome says. False: the agent is off.
  bool StartTracing();
  // A program's own copy of CUPTI has refused us: the next recording may choose that one.
  void ForgetCupti();
  // Follows requests, budget and other clients, and hands records over.
  void Turn(uint64_t now_ns);
  uint64_t PauseNs(uint64_t now_ns) const { return pacer_.PauseNs(now_ns); }
  // In a recording that has not begun to trace: what the collector asked for last.
  void FollowRequestWhileOff();
  // The recording is over. True while a thread has still to leave a launching call that CUPTI calls
  // back for: one that is cut in two would keep the call's number for good (last_exit.h). Call it
  // again in a moment, in another turn, and then EndTracing.
  bool LeaveLaunches(uint64_t now_ns) { return active() && pacer_.LeaveLaunches(now_ns); }
  // Tracing ends, and what is under way is taken. The ring and CUPTI stay.
  void EndTracing();
  // The last word to the collector, `how` as AgentReports::SendEnd has it, and no records from then
  // on.
  void End(const char* how);
  // The agent's thread could not be started: tracing ends, and the agent is off.
  void AbandonTracing();

  // CUPTI's callbacks; on launching threads no lock, no allocation and no system call.
  void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
    intake_.OnBufferRequested(buffer, size, max_records);
  }
  void OnBufferCompleted(uint8_t* buffer, size_t valid_bytes) {
    intake_.OnBufferCompleted(buffer, valid_bytes);
  }
  void OnDriverCall(const cupti::CallbackData& call);
  void OnLaunch(const cupti::CallbackData& call);
  void OnNode(uint32_t event, const cupti::ResourceData& resource);
  // The program captures a graph, or makes one that can run. Waits for a turn's end, but not long.
  void OnCapture(CaptureEvent event);
  // Another client subscribes to CUPTI's callbacks, or registers its buffer callbacks, and its
  // thread holds the turn.
  void OnSubscription();
  void OnRegistration();

  // The process ends, and our thread is out of CUPTI. Ranges end first, since libraries that they
  // use are torn down before records are handed over for the last time.
  void EndRangesAtExit() { ranges_.EndAtExit(); }
  void GiveUpStacks() { pacer_.GiveUpStacks(); }
  // `delay_ns`: for how long the process's end has waited for the agent until now.
  void HandOverAtExit(uint64_t delay_ns);
  // No ranges from now on.
  void RefuseRanges() { ranges_refused_ = true; }
  bool ranges_refused() const { return ranges_refused_; }
  bool RangesUnderWay() const { return ranges_.UnderWay(); }
  // In a child of fork: the memory is the parent's.
  void StopInChild();

  bool active() const { return intake_.active(); }
  bool wanted() const { return request_.wanted; }
  bool has_recorder() const { return has_recorder_; }
  bool has_cupti() const { return client_.started(); }
  bool HasBuffers() const { return client_.Registered(); }
  const CuptiApi& cupti() const { return cupti_; }
  bool CudaIsReady();
  AgentReports& reports() { return reports_; }

 private:
  void Disable(AgentReason reason, uint32_t detail);
  void FollowRequests(uint64_t now_ns);
  void FollowOtherClient(uint64_t now_ns);
  bool RangesAllowed() const;
  bool CalibrationDue() const { return RangesAllowed() && !ranges_.Finished(); }
  void EndRanges();

  Turns& turns_;
  RingWriter ring_;
  AgentWelcome welcome_{};
  CuptiApi cupti_{};
  CudaApi cuda_{};
  RecordIntake intake_;
  AgentReports reports_;
  CuptiClient client_;
  TraceRequest request_;
  TracePacer pacer_;
  RangeSession ranges_;
  std::atomic<bool> ranges_refused_{false};
  bool serves_attachments_ = false;
  bool has_recorder_ = false;
  uint64_t last_request_ = 0;
  uint64_t next_flush_ns_ = 0;
  uint64_t next_report_ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORDING_H_
