#include "inject/agent.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "inject/base/agent_thread.h"
#include "inject/base/clock.h"
#include "inject/driver/one_agent.h"
#include "inject/handshake.h"
#include "proto/attach_control.h"

namespace utlz::agent {

bool Agent::Start(const char* socket_path, const RunToken* token) {
  const uint64_t begun_ns = MonotonicNs();
  if (!Connect(socket_path, token)) return false;
  // The ring exists from here on: if tracing cannot begin, the collector gets the reason there.
  if (!recording_.CreateRecorder() || !recording_.StartCupti({})) {
    recording_.reports().SendEnd("off");
    return false;
  }
  if (!recording_.StartTracing()) return false;
  recording_.reports().CountStart(MonotonicNs() - begun_ns);
  if (StartThread(RunThreadMain, this, kRunThreadName)) return true;
  recording_.AbandonTracing();
  return false;
}

bool Agent::Connect(const char* socket_path, const RunToken* token) {
  const int ring_file = recording_.ring().Create(kRingDefaultDataBytes);
  if (ring_file < 0) return false;
  const bool met =
      MeetCollector(socket_path, token, {ring_file, kRingHeaderBytes + kRingDefaultDataBytes},
                    recording_.welcome());
  close(ring_file);
  return met;
}

void* Agent::RunThreadMain(void* agent) {
  static_cast<Agent*>(agent)->Run();
  return nullptr;
}

void Agent::Run() {
  while (recording_.active()) {
    turns_.Take([this] {
      recording_.Turn(MonotonicNs());
      return true;
    });
    const timespec pause{0, static_cast<long>(recording_.PauseNs(MonotonicNs()))};
    nanosleep(&pause, nullptr);
  }
}

bool Agent::StartForService(const char* path) {
  const uint64_t begun_ns = MonotonicNs();
  if (!service_.Open(path)) return false;
  const bool met = service_.Meet();
  if (met && !StartWithService()) {
    attachments_.attachment()->Close();
    return false;
  }
  if (!met) attachments_.BeAlone();
  recording_.reports().CountStart(MonotonicNs() - begun_ns);
  // From here on the agent is in the state in which it is between two attachments of tools.
  recording_.ServeAttachments();
  if (StartThread(ServiceThreadMain, this, kRunThreadName)) return true;
  if (met) recording_.AbandonTracing();
  attachments_.attachment()->Close();
  return false;
}

bool Agent::StartWithService() {
  if (recording_.CreateRecorder() && recording_.StartCupti({})) return recording_.StartTracing();
  recording_.reports().SendEnd("off");
  return false;
}

void* Agent::ServiceThreadMain(void* agent) {
  static_cast<Agent*>(agent)->service_.Follow();
  return nullptr;
}

bool Agent::WaitForTools(OwnDescriptor connection) {
  recording_.ServeAttachments();
  first_connection_ = connection;
  return StartThread(LoadedThreadMain, this, nullptr);
}

bool Agent::ListenForTools() {
  recording_.ServeAttachments();
  attachments_.control_socket().Open({}, /*listen=*/true);
  return StartThread(WaitingThreadMain, this, kInactiveThreadName);
}

void* Agent::LoadedThreadMain(void* agent) {
  pthread_setname_np(pthread_self(), kInactiveThreadName);
  auto* one = static_cast<Agent*>(agent);
  one->attachments_.control_socket().Open(one->first_connection_, /*listen=*/false);
  return WaitingThreadMain(agent);
}

void* Agent::WaitingThreadMain(void* agent) {
  WatchProcessEnds();
  static_cast<Agent*>(agent)->ServeTools();
  return nullptr;
}

// Attachment by attachment, and in between blocked in poll.
void Agent::ServeTools() {
  while (!turns_.ended() &&
         attachments_.control_socket().WaitForAttachment(attachments_.attachment())) {
    attachments_.Serve();
    attachments_.Close();
  }
}

void Agent::OnFork() {
  turns_.EndInChild();  // nothing to wait for at the child's end
  recording_.StopInChild();
  if (recording_.serves_attachments()) attachments_.CloseInChild();
}

}  // namespace utlz::agent
