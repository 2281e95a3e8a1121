// The agent: the one state that the injected library has in the target.
//
// Threads: Start runs on the target's thread inside cuInit; one thread of ours then flushes,
// reports and follows the collector's requests. An agent that waits for tools (Wait,
// agent_attachments.cc) does everything on that thread, and so does one of a service
// (agent_service.cc) from the first collector's end on. CUPTI calls OnBufferRequested on launching
// threads and OnBufferCompleted on its worker or on whoever flushes.
#ifndef UTLZ_INJECT_AGENT_H_
#define UTLZ_INJECT_AGENT_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/base/ring_writer.h"
#include "inject/control_socket.h"
#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"
#include "inject/ranges/range_session.h"
#include "inject/record/buffer_pool.h"
#include "inject/record/first_launch_watch.h"
#include "inject/record/recorder.h"
#include "inject/tracing/later_windows.h"
#include "inject/tracing/launch_callbacks.h"
#include "inject/tracing/other_client.h"
#include "inject/tracing/registration.h"
#include "inject/tracing/trace_budget.h"
#include "inject/tracing/trace_switch.h"
#include "inject/tracing/window_cost.h"
#include "proto/ring_abi.h"
#include "proto/run_token.h"

namespace utlz::agent {

class Agent {
 public:
  static constexpr size_t kMostSocketPathBytes = 108;  // with the zero byte at its end

  // Meets the collector, loads CUPTI, begins to trace. False where the agent is off; the target
  // goes on all the same. Null: the process was given no token.
  bool Start(const char* socket_path, const RunToken* token);

  // The same with a service, whose collectors may come and go: the agent follows them, also where
  // none is there yet. `path` is of its socket. False where the agent is off for good.
  bool StartForService(const char* path);

  // Starts the thread that waits for tools, inactive until one comes, and touches nothing else.
  // Inside the dynamic loader, on any thread; `connection` is the loader's.
  bool WaitForTools(OwnDescriptor connection);
  // The same outside of it, from where tools are let in that may not trace the process. They can
  // connect once this returns.
  bool ListenForTools();

  // CUPTI's callbacks.
  void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records);
  void OnBufferCompleted(cupti::Context context, uint32_t stream, uint8_t* buffer,
                         size_t valid_bytes);
  void OnDriverCall(const cupti::CallbackData& call);
  // On the launching thread: no lock, no allocation, no system call.
  void OnLaunch(const cupti::CallbackData& call);

  // Another client subscribes to CUPTI's callbacks; turn_mutex_ is held.
  void OnSubscription();
  // Another client registers its buffer callbacks; alike.
  void OnRegistration();
  // The program's main thread ends, and most likely the process: no ranges from now on, and no
  // attachment begins to trace.
  void OnMainThreadEnds();
  // At exit(): our thread is out of CUPTI, and counts no ranges.
  void OnExitBegins();
  // Likewise, before CUDA is taken down: everything that CUPTI has is handed over.
  void OnExit();
  // In a child of fork: the memory is the parent's and there is no thread, so never again.
  void OnFork();

  const CuptiApi& cupti() const { return cupti_; }

 private:
  bool Connect(const char* socket_path, const RunToken* token);
  bool MeetService();
  bool CreateRecorder();
  bool StartCupti(const BroughtCupti& brought);
  // After StartTracing found the program's own copy in use, beside the named one.
  void ForgetCupti();
  // Those that call our copy, and none but these.
  void WatchClients();
  bool StartTracing();
  void FollowTearDown();
  void LimitDeviceMemory();
  // `name`, if given, is the thread's from the moment that this returns.
  bool StartThread(void* (*main)(void*), const char* name);
  void Disable(AgentReason reason, uint32_t detail);

  static void* ThreadMain(void* agent);
  void Run();

  static void* LoadedThreadMain(void* agent);
  static void* WaitingThreadMain(void* agent);
  void ServeAttachments();
  // False where the attachment did not begin.
  bool Serve(const Attachment& attachment);
  bool MeetVisitor(const Attachment& attachment);
  void CloseAttachment();
  void Accompany(const Attachment& attachment, bool served);
  static void* ServiceThreadMain(void* agent);
  void FollowService();
  bool FindService();
  void BeAlone();
  // Of our thread: the names by which tools find agents are not for one that a service has.
  void NameThread(const char* name) const;
  bool IsOfService() const { return service_path_[0] != 0; }
  void SendFirstAnswer(const Attachment& attachment);
  bool BeginAttachment(const Attachment& attachment);
  bool TurnWhileAttached(const Attachment& attachment);
  bool BeginTracing(const Attachment& attachment);
  bool CudaIsReady();
  void EndAttachment(const Attachment& attachment);
  void StopAndDrain();
  void EndRanges();

  void Turn(uint64_t now_ns);
  bool StopTurns();
  void FollowRequests(uint64_t now_ns);
  void FollowClock();
  void FollowBudget(uint64_t now_ns);
  void FollowNewWork(uint64_t now_ns, uint64_t new_work);
  void WatchNewWork();
  // The next window, on the monotonic clock: the collector's, or one for new work before that.
  PlannedWindow NextWindow(uint64_t now_ns) const;
  // How long until the next turn: planned windows begin and end in time.
  uint64_t PauseNs(uint64_t now_ns) const;
  bool RangesAllowed() const;
  WorkSums RecentWorkBefore(uint64_t realtime_ns);
  void FollowLaterWindows(uint64_t now_ns);
  void OpenWindow();
  void OpenStacks();
  NoStack SubscribeToLaunches();
  void FollowStacks(uint64_t now_ns);
  void CloseStacks();
  void GiveUpStacks();
  void LearnCost();
  void EndGap();
  void CountToTheEnd();
  bool MayPause();
  void StopLateRecords(uint64_t now_ns, uint64_t launches);
  void StopTracing(const char* reason);
  void FollowOtherClient(uint64_t now_ns);
  void FlushRecords(uint32_t flags);
  void Report();
  void SendIdentity();
  void SendDevices();
  void SendPoolMemory();
  void SendStatus();
  void SendEnd(const char* how);

  bool Active() const { return active_.load(std::memory_order_acquire); }

  std::atomic<bool> active_{false};
  std::atomic<bool> gives_buffers_{false};  // CUPTI may have some, though nothing is recorded
  pthread_mutex_t turn_mutex_ = PTHREAD_MUTEX_INITIALIZER;  // held while our thread may call CUPTI
  std::atomic<bool> exiting_{false};
  std::atomic<bool> main_thread_ended_{false};
  std::atomic<bool> begins_tracing_{false};  // in an attachment: CUPTI is loaded by our thread
  std::atomic<bool> ended_{false};
  // For tools or collectors, attachment by attachment; else for one collector for good.
  bool waits_ = false;
  char service_path_[kMostSocketPathBytes] = "";  // of the service; empty: none
  uint64_t alone_since_ns_ = 0;                   // AgentHello::alone_since_ns
  bool attachment_ended_off_ = false;             // the last one, and the next would too
  ControlSocket control_socket_;
  Attachment attachment_;  // the present one
  OwnDescriptor first_connection_;
  bool has_recorder_ = false;
  bool has_cupti_ = false;
  AgentWelcome welcome_{};
  RingWriter ring_;
  CuptiApi cupti_{};
  CudaApi cuda_{};
  BufferPool pool_;
  Recorder recorder_;
  Registration registration_;
  TraceSwitch trace_;
  TraceBudget budget_;
  WindowCost window_cost_;
  LaterWindows later_;
  uint64_t paused_realtime_ns_ = 0;  // when records were switched off last
  uint64_t loads_seen_ = 0;
  LaunchCallbacks launch_callbacks_;
  NoStack no_stack_ = NoStack::kNone;  // why the last window had none that wanted them
  NoBackward no_backward_ = NoBackward::kNone;  // why its backward launches had no owner
  bool wanted_ = false;                // the collector wants records
  uint32_t wanted_flags_ = 0;
  uint32_t budget_ppm_ = 0;
  FirstLaunchWatch new_work_;
  uint64_t new_work_seen_ = 0;     // records of it
  bool has_new_work_ = false;      // which no window has been opened for
  PlannedWindow new_work_window_;  // the last one
  uint64_t silence_due_ns_ = 0;    // when, tracing being off, no record may come any more
  uint64_t launches_when_silent_ = 0;
  OtherClient other_client_;
  RangeSession ranges_;
  bool taken_ = false;          // another client has the buffers
  bool may_subscribe_ = false;  // where that harms nobody (subscription.h)
  bool clock_known_ = true;
  std::atomic<int> devices_sent_{0};
  uint64_t last_request_ = 0;
  uint64_t next_flush_ns_ = 0;
  uint64_t next_report_ns_ = 0;
  std::atomic<uint64_t> callbacks_{0};
  std::atomic<uint64_t> thread_cpu_ns_{0};
  uint64_t earlier_cpu_ns_ = 0;  // of our thread, before this attachment
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_AGENT_H_
