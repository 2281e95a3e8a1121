// What the agent reports of the process and of itself: who it is, its devices and their memory,
// what was counted, and the end.
//
// In a turn of the agent's thread (turns.h), in InitializeInjection, or at the process's end.
#ifndef UTLZ_INJECT_REPORTS_AGENT_REPORTS_H_
#define UTLZ_INJECT_REPORTS_AGENT_REPORTS_H_

#include <atomic>
#include <cstdint>

#include "inject/base/ring_writer.h"
#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"
#include "inject/python/python_layout.h"
#include "inject/record/record_intake.h"

namespace utlz::agent {

// Why nodes of CUDA graphs have no stack of their capture: NoCaptureReason.
enum class NoCapture : uint8_t {
  kNone,
  kOtherRelease,   // libcupti does not number nodes
  kNotSubscribed,  // another client has the one subscription, or has had it
  kBusy,           // our thread was, for longer than a capture waits
  kNoRoom,         // for more nodes
};

// What a report says of tracing.
struct TracingStatus {
  bool taken = false;  // another client has CUPTI, which is left alone: it may tear it down
  uint64_t tracing_cost_ns = 0;
  uint32_t records_state = 0;                  // AgentStatus::records_state
  NoStack no_stack = NoStack::kNone;           // why the last window that was to have any had none
  NoBackward no_backward = NoBackward::kNone;  // why its backward launches had no owner
  NoCapture no_capture = NoCapture::kNone;     // why a capture had no stacks
  uint64_t captures = 0;                       // that were seen to begin
};

class AgentReports {
 public:
  // All must outlive it; the tables are filled in later.
  AgentReports(const CuptiApi& cupti, const CudaApi& cuda, RecordIntake& intake, RingWriter& ring)
      : cupti_(cupti), cuda_(cuda), intake_(intake), ring_(ring) {}

  // For another collector, which knows nothing yet. Agent's thread.
  void Restart();

  void SendIdentity();
  // For how long the agent kept a thread of the program: at cuInit, and at the process's end.
  void CountStart(uint64_t ns) { start_delay_ns_.store(ns, std::memory_order_relaxed); }
  void CountEnd(uint64_t ns) { end_delay_ns_.store(ns, std::memory_order_relaxed); }
  // Once, as soon as the driver says what there is.
  void SendDevices();
  void SendStatus(const TracingStatus& tracing);
  // The same, memory and the agent's own CPU time: once a second. Agent's thread.
  void SendRegular(const TracingStatus& tracing);
  // The last frame; `how` is "exit", "off" or "detached".
  void SendEnd(const char* how);

 private:
  void SendPoolMemory();

  const CuptiApi& cupti_;
  const CudaApi& cuda_;
  RecordIntake& intake_;
  RingWriter& ring_;
  std::atomic<int> devices_sent_{0};
  std::atomic<uint64_t> thread_cpu_ns_{0};
  std::atomic<uint64_t> start_delay_ns_{0};
  std::atomic<uint64_t> end_delay_ns_{0};
  uint64_t earlier_cpu_ns_ = 0;  // of our thread, before this attachment
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_REPORTS_AGENT_REPORTS_H_
