// Stands in for `utlz sampler` in tests of its client: speaks on descriptor 3, and behaves as the
// value of --cupti= says, or --planned-windows.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collector/clocks.h"
#include "collector/sampler/channel/frame_stream.h"
#include "collector/sampler/channel/sampler_command.h"
#include "proto/profile.pb.h"
#include "proto/sampler.pb.h"

extern char** environ;

namespace utlz {
namespace {

constexpr int kChannelFd = 3;
constexpr uint16_t kReplyType = FRAME_SAMPLER_STATUS;
constexpr uint64_t kPutOffNs = 1'000'000'000;
const std::string kFakeSamplerUuid = "0123456789abcdef";

void Say(uint16_t type, const std::string& payload) {
  std::string bytes;
  AppendFrame(type, payload, &bytes);
  // The other end may be gone; then there is nobody to tell.
  if (send(kChannelFd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) _exit(1);
}

void Say(const std::string& payload) { Say(kReplyType, payload); }

std::string Environment() {
  std::string text;
  for (char** entry = environ; *entry != nullptr; ++entry) text += std::string(*entry) + "\n";
  return text;
}

void SayReady() {
  SamplerReady ready;
  ready.set_device_uuid(kFakeSamplerUuid);
  ready.set_time_ns(RealtimeNs());
  ready.set_window_ns(20'000'000);
  Say(FRAME_SAMPLER_READY, ready.SerializeAsString());
}

// Is ready for a window on one GPU, says in its status when it was told to begin, and then that
// it will begin a second later for another's sake; or is ready `again`.
void AwaitWindow(bool again) {
  Say(FRAME_SAMPLER_STATUS, SamplerStatus().SerializeAsString());
  SayReady();
  SamplerCommand command;
  while (recv(kChannelFd, &command, sizeof(command), MSG_WAITALL) == sizeof(command)) {
    if (command.kind == kSamplerQuit) return;
    if (command.kind != kSamplerWindowAt) continue;
    SamplerStatus status;
    status.set_device_uuid(command.uuid, sizeof(command.uuid));
    status.set_time_ns(command.argument);
    Say(FRAME_SAMPLER_STATUS, status.SerializeAsString());
    if (again) {
      SayReady();
      continue;
    }
    SamplerWindow window;
    window.set_device_uuid(kFakeSamplerUuid);
    window.set_begin_ns(command.argument + kPutOffNs);
    window.set_window_ns(20'000'000);
    Say(FRAME_SAMPLER_WINDOW, window.SerializeAsString());
  }
}

// Tells of a GPU that never does anything, until it is told to quit.
void TellOfAnIdleGpu() {
  constexpr int kPauseMs = 20;
  pollfd channel{.fd = kChannelFd, .events = POLLIN, .revents = 0};
  while (true) {
    SamplerCommand command;
    if (poll(&channel, 1, kPauseMs) > 0 &&
        (recv(kChannelFd, &command, sizeof(command), MSG_WAITALL) != sizeof(command) ||
         command.kind == kSamplerQuit)) {
      return;
    }
    DeviceTotalsBatch totals;
    totals.set_device_uuid(kFakeSamplerUuid);
    totals.add_time_ns(RealtimeNs());
    totals.add_gpu_busy_percent(0);
    Say(FRAME_DEVICE_TOTALS, totals.SerializeAsString());
  }
}

// Answers every command with its kind and argument, until it is told to quit.
void Echo() {
  SamplerCommand command;
  while (recv(kChannelFd, &command, sizeof(command), MSG_WAITALL) == sizeof(command)) {
    if (command.kind == kSamplerQuit) {
      Say("bye");
      return;
    }
    Say(std::to_string(command.kind) + " " + std::to_string(command.argument) + " " +
        std::string(reinterpret_cast<const char*>(command.uuid),
                    strnlen(reinterpret_cast<const char*>(command.uuid), 16)));
  }
}

int Run(const std::string& behaviour) {
  if (behaviour == "planned" || behaviour == "ready again") {
    AwaitWindow(behaviour == "ready again");
  }
  if (behaviour == "idle") {
    TellOfAnIdleGpu();
    return 0;
  }
  if (behaviour == "environment") Say(Environment());
  if (behaviour == "garbage") {
    const std::string garbage(64, '\xff');
    if (send(kChannelFd, garbage.data(), garbage.size(), MSG_NOSIGNAL) < 0) return 1;
  }
  if (behaviour == "crash") raise(SIGKILL);
  if (behaviour == "detached") {
    Say(FRAME_SAMPLER_DETACHED, "");
    close(kChannelFd);
    while (true) pause();
  }
  if (behaviour == "deaf") {
    while (true) pause();
  }
  if (behaviour == "descriptors") {
    std::string open_fds;
    for (int fd = 0; fd < 64; ++fd) {
      if (lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF) open_fds += std::to_string(fd) + " ";
    }
    Say(open_fds);
  }
  Echo();
  if (behaviour == "lingers") {
    close(kChannelFd);
    while (true) pause();
  }
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) {
  std::string behaviour;
  bool planned = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--cupti=", 8) == 0) behaviour += argv[i] + 8;
    planned = planned || std::strcmp(argv[i], "--planned-windows=true") == 0;
  }
  if (planned && behaviour != "idle" && behaviour != "ready again") behaviour = "planned";
  return argc > 1 && std::strcmp(argv[1], "sampler") == 0 ? utlz::Run(behaviour) : 2;
}
