// The agent as one client of CUPTI among others: which copy it uses, whether the buffer callbacks
// are its own, and when another client has taken them over.
//
// In a turn of the agent's thread (turns.h), in InitializeInjection, or on the thread of another
// client while that one's calls wait; taken() and may_subscribe() at the process's end too.
#ifndef UTLZ_INJECT_TRACING_CUPTI_CLIENT_H_
#define UTLZ_INJECT_TRACING_CUPTI_CLIENT_H_

#include <cstdint>

#include "inject/base/turns.h"
#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"
#include "inject/record/record_intake.h"
#include "inject/reports/agent_reports.h"
#include "inject/tracing/other_client.h"
#include "inject/tracing/registration.h"
#include "proto/ring_abi.h"

namespace utlz::agent {

class CuptiClient {
 public:
  // What the agent cannot go on without.
  struct Failure {
    AgentReason reason = AgentReason::kNone;
    uint32_t detail = 0;
  };

  // Fills the tables in. All must outlive it.
  CuptiClient(CuptiApi& cupti, CudaApi& cuda, RecordIntake& intake, AgentReports& reports,
              Turns& turns)
      : cupti_(cupti), cuda_(cuda), intake_(intake), reports_(reports), turns_(turns) {}

  // Loads CUPTI and registers the buffer callbacks, once; later: finds what became of them. Reports
  // the process's identity. `has_run`: the program may have had another client before.
  Failure Start(const BroughtCupti& brought, bool has_run, uint32_t device_pool_mib);
  // For another collector.
  void Restart() {
    taken_ = false;
    cupti_.named = {};
  }
  // Where StartTracing found the program's own copy in use, beside the named one: callbacks stay
  // registered with ours, where nothing is switched on. The next Start may choose another.
  void Forget();
  // Watches modules that call our copy, and none but these.
  void WatchOthers();

  // True once for each time that another client has taken the buffers over, or torn CUPTI down. The
  // caller then takes all kinds of records for switched off, and calls WatchTaker.
  bool NoticeLostBuffers();
  void WatchTaker();
  // torch.profiler and its like take the buffers, trace for a while and leave everything switched
  // off, or tear CUPTI down. Once they have been done for a while the buffers are taken back: true.
  bool ReclaimBuffers(uint64_t now_ns);
  // Compares CUPTI's clock, which another client may have replaced, with ours. Each turn.
  void FollowClock();

  bool started() const { return started_; }
  // Another client has the buffers.
  bool taken() const { return taken_; }
  // The callbacks are not known to be another's, at this moment.
  bool Registered() const { return registration_.Ours(); }
  bool TornDown() const { return other_client_.TornDown(); }
  // Where that harms nobody (subscription.h).
  bool may_subscribe() const { return may_subscribe_; }
  bool clock_known() const { return clock_known_; }

 private:
  CuptiLoad Load(const BroughtCupti& brought);
  Failure Register(bool has_run);
  void FollowTearDown();
  void LimitDeviceMemory();

  CuptiApi& cupti_;
  CudaApi& cuda_;
  RecordIntake& intake_;
  AgentReports& reports_;
  Turns& turns_;
  Registration registration_;
  OtherClient other_client_;
  uint32_t device_pool_mib_ = 0;
  bool started_ = false;
  bool taken_ = false;
  bool may_subscribe_ = false;
  bool clock_known_ = true;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_CUPTI_CLIENT_H_
