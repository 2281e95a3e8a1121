// The collector's side of a sampler process: spawns it with a cleaned environment, reads its
// frames, steers it.
//
//   auto client = SamplerClient::Start({.options = {...}});
//   poll client->fd() for reading, then client->Read(sink) until it says the sampler has ended;
//   client->UseDevice(uuid) for every GPU that a target uses; client->Stop() at the end, and the
//   destructor once there is time to wait for the process.
//
// Not thread-safe: one thread uses a client.
#ifndef UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_CLIENT_H_
#define UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_CLIENT_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/sampler/channel/frame_stream.h"
#include "collector/sampler/channel/sampler_options.h"

namespace utlz {

struct SamplerClientOptions {
  SamplerOptions options;  // channel_fd is set by Start
  // Program to run as `executable sampler …`; the default is the program that runs now.
  std::string executable = "/proc/self/exe";
};

class SamplerClient {
 public:
  // Type is a FrameType; the payload is valid during the call only, its checksum has been checked.
  using FrameSink = std::function<void(uint16_t type, std::string_view payload)>;

  // How long the process may take to end once it has nothing more to say: the driver takes down
  // what it had. It is killed then.
  static constexpr std::chrono::milliseconds kExitLimit{2000};

  static absl::StatusOr<std::unique_ptr<SamplerClient>> Start(const SamplerClientOptions& options);

  SamplerClient(const SamplerClient&) = delete;
  SamplerClient& operator=(const SamplerClient&) = delete;
  // Ends the sampler as Stop does, and waits for its process.
  ~SamplerClient();

  // To poll for reading; -1 once the sampler has ended.
  int fd() const { return fd_; }
  pid_t pid() const { return pid_; }
  // False once the sampler closed its end, broke the protocol, or was stopped.
  bool running() const { return fd_ >= 0; }

  // Hands on every whole frame that is there now; never waits. A status other than OK is said once:
  // the sampler ended (Unavailable) or sent what is no frame (DataLoss), and is no longer read.
  absl::Status Read(const FrameSink& sink);

  // Sample the GPU with this 16-byte UUID (as in Device.uuid). Repeating it is harmless.
  absl::Status UseDevice(std::string_view uuid);
  // Give the counters up, so that ranges, ncu or DCGM can have them; and take them back.
  absl::Status Yield();
  absl::Status Resume();
  // Share of time, in millionths, for which sampling may be on; 0 = no windows until raised again.
  absl::Status SetDuty(uint32_t duty_ppm);
  // Open a window now, as when new kernels appear; one whose windows are planned gets ready for it.
  absl::Status StartWindow();
  // Open a window on this GPU at `begin_ns` (CLOCK_REALTIME): SamplerOptions::planned_windows.
  absl::Status WindowAt(std::string_view uuid, uint64_t begin_ns);

  // What is known of a GPU's load: SamplingProgress.
  absl::Status Progress(std::string_view uuid, uint64_t progress);
  // How long this collector attributed the GPU's samples since it last said so.
  absl::Status CollectorSpent(std::string_view uuid, uint64_t cpu_ns);

  // Asks the sampler to end, hands on what it still sends, and waits at most `limit` before
  // killing it; one that goes on for other collectors is left alone. Does nothing if it has ended.
  // Its process may take longer to end.
  void Stop(const FrameSink& sink, std::chrono::milliseconds limit = std::chrono::seconds(2));

  // Frames and bytes that came, for the report of our own cost.
  uint64_t frames() const { return frames_; }
  uint64_t bytes() const { return stream_.bytes(); }

 private:
  SamplerClient(int fd, pid_t pid) : fd_(fd), pid_(pid) {}
  absl::Status SendForDevice(uint32_t kind, uint64_t argument, std::string_view uuid);
  absl::Status Send(uint32_t kind, uint64_t argument, std::string_view uuid = {});
  void Close();
  void Reap(std::chrono::milliseconds limit);

  int fd_;
  pid_t pid_;
  bool detached_ = false;  // it goes on for others
  FrameStream stream_;
  uint64_t frames_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_CHANNEL_SAMPLER_CLIENT_H_
