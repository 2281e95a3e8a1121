// The agent: the one state that the injected library has in the target, composed of its parts, with
// the thread that follows the collector.
//
//   Agent ─┬─ Turns              whose turn it is to call CUPTI
//          ├─ Recording          one recording for one collector
//          ├─ ProcessEnd         hands over what was recorded
//          ├─ AttachmentServer   one recording after another, for tools
//          └─ ServiceFollower    the same for the collectors of a service
//
// Threads: Start runs on the target's thread inside cuInit; one thread of ours then flushes,
// reports and follows the collector's requests. An agent that waits for tools does everything on
// that thread, and so does one of a service from the first collector's end on. CUPTI calls
// OnBufferRequested on threads that launch. It calls OnBufferCompleted on a thread of its own, or
// on the one that asks it to flush.
#ifndef UTLZ_INJECT_AGENT_H_
#define UTLZ_INJECT_AGENT_H_

#include "inject/attachment_server.h"
#include "inject/base/own_descriptor.h"
#include "inject/base/turns.h"
#include "inject/process_end.h"
#include "inject/recording.h"
#include "inject/service_follower.h"
#include "proto/run_token.h"

namespace utlz::agent {

class Agent {
 public:
  // Meets the collector, loads CUPTI, begins to trace. False where the agent is off; the target
  // goes on all the same. Null: the process was given no token.
  bool Start(const char* socket_path, const RunToken* token);

  // The same with a service, whose collectors may come and go: the agent follows them, also where
  // none is there yet. `path` is of its socket. False where the agent is off for good.
  bool StartForService(const char* path);

  // Starts the thread that waits for tools, inactive until one comes, and touches nothing else.
  // Inside the dynamic loader, on any thread; `connection` is the loader's.
  bool WaitForTools(OwnDescriptor connection);
  // The same outside of the dynamic loader, with a listener for tools that may not trace the
  // process. They can connect once this returns.
  bool ListenForTools();

  // In a child of fork: the memory is the parent's and there is no thread, so never again.
  void OnFork();

  // Where CUPTI's callbacks go.
  Recording& recording() { return recording_; }
  ProcessEnd& process_end() { return process_end_; }

 private:
  bool Connect(const char* socket_path, const RunToken* token);
  bool StartWithService();

  static void* RunThreadMain(void* agent);
  static void* LoadedThreadMain(void* agent);
  static void* WaitingThreadMain(void* agent);
  static void* ServiceThreadMain(void* agent);
  void Run();
  void ServeTools();

  Turns turns_;
  Recording recording_{turns_};
  ProcessEnd process_end_{turns_, recording_};
  AttachmentServer attachments_{turns_, recording_, process_end_};
  ServiceFollower service_{turns_, recording_, attachments_};
  OwnDescriptor first_connection_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_AGENT_H_
