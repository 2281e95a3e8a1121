#include "inject/service_follower.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inject/base/clock.h"
#include "inject/handshake.h"

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

bool ServiceFollower::Open(const char* path) {
  if (strlen(path) >= sizeof path_) return false;
  strcpy(path_, path);
  attachments_.BelongToService();
  return true;
}

bool ServiceFollower::Meet() {
  RingWriter& ring = recording_.ring();
  const int ring_file = ring.Create(kRingDefaultDataBytes);
  if (ring_file < 0) return false;
  const int connection = ConnectToCollector(path_);
  const bool met =
      connection >= 0 &&
      MeetCollectorOn(connection, {ring_file, kRingHeaderBytes + kRingDefaultDataBytes},
                      kProgramPatienceSeconds, recording_.welcome());
  close(ring_file);
  if (met) {
    attachments_.attachment()->connection = OwnDescriptor::Adopt(connection);
  } else {
    if (connection >= 0) close(connection);
    ring.Destroy();
  }
  return met;
}

void ServiceFollower::Follow() {
  if (recording_.has_recorder()) {
    attachments_.Accompany(true);
    attachments_.Close();
    attachments_.BeAlone();
  }
  uint64_t wait_ms = kFirstLookMs;
  while (!turns_.ended() && !attachments_.ended_off()) {
    SleepMs(DitheredMs(wait_ms));
    // One that refuses, or ends at once, is not asked again and again.
    wait_ms = wait_ms < kLastLookMs ? 2 * wait_ms : kLastLookMs;
    if (turns_.ended() || !Find()) continue;
    const uint64_t begin_ns = MonotonicNs();
    const bool begun = attachments_.Serve();
    attachments_.Close();
    if (!begun) continue;
    attachments_.BeAlone();
    if (MonotonicNs() - begin_ns >= kLastLookMs * 1000000) wait_ms = kFirstLookMs;
  }
}

// The connection that brings the collector also shows its end.
bool ServiceFollower::Find() {
  const int connection = ConnectToCollector(path_);
  if (connection < 0) return false;
  Attachment* attachment = attachments_.attachment();
  attachment->connection = OwnDescriptor::Adopt(connection);
  attachment->collector = attachment->connection;
  return true;
}

}  // namespace utlz::agent
