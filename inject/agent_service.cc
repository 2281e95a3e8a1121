// The agent of a service (kCollectorVariable): it begins inside cuInit as that of `utlz run` does.
// The connection over which it met the collector stays open. Where that ends, so does the
// attachment, as one of a tool would, and the agent's thread looks for the next collector at the
// same path.

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inject/agent.h"
#include "inject/base/clock.h"
#include "inject/handshake.h"
#include "proto/attach_control.h"

namespace utlz::agent {
namespace {

// Between two looks for a collector: soon after one has gone, seldom where none comes.
constexpr uint64_t kFirstLookMs = 500;
constexpr uint64_t kLastLookMs = 8000;

// Processes that lost one collector do not all come to the next at once.
uint64_t DitheredMs(uint64_t milliseconds) {
  return milliseconds + static_cast<uint64_t>(getpid()) % (milliseconds / 2);
}

void SleepMs(uint64_t milliseconds) {
  const timespec pause{static_cast<time_t>(milliseconds / 1000),
                       static_cast<long>(milliseconds % 1000 * 1000000)};
  nanosleep(&pause, nullptr);
}

}  // namespace

bool Agent::StartForService(const char* path) {
  if (strlen(path) >= sizeof service_path_) return false;
  strcpy(service_path_, path);
  if (MeetService()) {
    if (!CreateRecorder() || !StartCupti({})) {
      SendEnd("off");
      attachment_.Close();
      return false;
    }
    if (!StartTracing()) {
      attachment_.Close();
      return false;
    }
    has_recorder_ = true;
  } else {
    BeAlone();
  }
  // From here on as between the attachments of tools.
  waits_ = true;
  if (StartThread(ServiceThreadMain, kRunThreadName)) return true;
  if (has_recorder_) {
    trace_.Off(nullptr);
    Disable(AgentReason::kNoMemory, 0);
  }
  attachment_.Close();
  return false;
}

// What is not met leaves no ring behind.
bool Agent::MeetService() {
  const int ring_file = ring_.Create(kRingDefaultDataBytes);
  if (ring_file < 0) return false;
  const int connection = ConnectToCollector(service_path_);
  const bool met =
      connection >= 0 &&
      MeetCollectorOn(connection, {ring_file, kRingHeaderBytes + kRingDefaultDataBytes},
                      kProgramPatienceSeconds, &welcome_);
  close(ring_file);
  if (met) {
    attachment_.connection = OwnDescriptor::Adopt(connection);
  } else {
    if (connection >= 0) close(connection);
    ring_.Destroy();
  }
  return met;
}

void* Agent::ServiceThreadMain(void* agent) {
  static_cast<Agent*>(agent)->FollowService();
  return nullptr;
}

void Agent::FollowService() {
  if (has_recorder_) {
    Accompany(attachment_, true);
    CloseAttachment();
    BeAlone();
  }
  uint64_t wait_ms = kFirstLookMs;
  while (!exiting_ && !attachment_ended_off_) {
    SleepMs(DitheredMs(wait_ms));
    // One that refuses, or ends at once, is not asked again and again.
    wait_ms = wait_ms < kLastLookMs ? 2 * wait_ms : kLastLookMs;
    if (exiting_ || !FindService()) continue;
    const uint64_t begin_ns = MonotonicNs();
    const bool begun = Serve(attachment_);
    CloseAttachment();
    if (!begun) continue;
    BeAlone();
    if (MonotonicNs() - begin_ns >= kLastLookMs * 1000000) wait_ms = kFirstLookMs;
  }
}

// The connection that brings the collector also shows its end.
bool Agent::FindService() {
  const int connection = ConnectToCollector(service_path_);
  if (connection < 0) return false;
  attachment_.connection = OwnDescriptor::Adopt(connection);
  attachment_.collector = attachment_.connection;
  return true;
}

void Agent::BeAlone() { alone_since_ns_ = RealtimeNs(); }

void Agent::NameThread(const char* name) const {
  pthread_setname_np(pthread_self(), IsOfService() ? kRunThreadName : name);
}

}  // namespace utlz::agent
