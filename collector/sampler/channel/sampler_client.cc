#include "collector/sampler/channel/sampler_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/unique_fd.h"
#include "proto/sampler.pb.h"

namespace utlz {
namespace {

constexpr int kChannelFd = 3;
constexpr size_t kReadBytes = size_t{256} << 10;
constexpr int kMostReads = 64;  // in one call of Read, so that the caller's loop goes on
constexpr timespec kReapPause{0, 5'000'000};

// All of the environment that the sampler gets: nothing that loads a library, hides a GPU or
// injects into CUDA.
std::vector<std::string> CleanEnvironment() {
  std::vector<std::string> environment;
  for (const char* name :
       {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR"}) {
    if (const char* value = getenv(name); value != nullptr) {
      environment.push_back(absl::StrCat(name, "=", value));
    }
  }
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& text : *strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's settings, freed at the end of the scope.
class SpawnSettings {
 public:
  explicit SpawnSettings(int channel) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    for (int fd : {0, 1, 2}) {
      posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
    }
    posix_spawn_file_actions_adddup2(&actions_, channel, kChannelFd);
    posix_spawn_file_actions_addclosefrom_np(&actions_, kChannelFd + 1);
    // A session of its own: the terminal's Ctrl-C and Ctrl-Z are for the profiled command.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SamplerClient>> SamplerClient::Start(
    const SamplerClientOptions& options) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::UnavailableError(absl::StrCat("no sampler: socketpair failed: ", strerror(errno)));
  }
  UniqueFd ours(sockets[0]);
  // Above 3, so that duplicating it onto 3 clears its close-on-exec flag.
  UniqueFd theirs(fcntl(sockets[1], F_DUPFD_CLOEXEC, kChannelFd + 1));
  close(sockets[1]);
  if (!theirs.valid()) return absl::UnavailableError("no sampler: out of file descriptors");

  SamplerOptions sampler_options = options.options;
  sampler_options.channel_fd = kChannelFd;
  std::vector<std::string> arguments = SamplerArguments(sampler_options);
  arguments.insert(arguments.begin(), {"utlz", "sampler"});
  std::vector<std::string> environment = CleanEnvironment();
  const SpawnSettings settings(theirs.get());
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, options.executable.c_str(), settings.actions(), settings.attributes(),
                  Pointers(&arguments).data(), Pointers(&environment).data());
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("no sampler: ", options.executable, " cannot be run: ", strerror(error)));
  }
  return std::unique_ptr<SamplerClient>(new SamplerClient(ours.Release(), pid));
}

SamplerClient::~SamplerClient() {
  Stop([](uint16_t, std::string_view) {});
  if (!detached_) Reap(kExitLimit);
}

absl::Status SamplerClient::Read(const FrameSink& sink) {
  if (!running()) return absl::OkStatus();
  static thread_local std::vector<char> bytes(kReadBytes);
  for (int i = 0; i < kMostReads; ++i) {
    const ssize_t count = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return absl::OkStatus();
    if (count <= 0) {
      Close();
      return absl::UnavailableError("the sampler ended");
    }
    absl::Status status = stream_.Push(std::string_view(bytes.data(), static_cast<size_t>(count)),
                                       [&](uint16_t type, std::string_view payload) {
                                         ++frames_;
                                         if (type == FRAME_SAMPLER_DETACHED) {
                                           detached_ = true;
                                         } else {
                                           sink(type, payload);
                                         }
                                       });
    if (!status.ok()) {
      Close();
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status SamplerClient::Send(uint32_t kind, uint64_t argument, std::string_view uuid) {
  if (!running()) return absl::FailedPreconditionError("the sampler has ended");
  SamplerCommand command{};
  command.magic = kSamplerCommandMagic;
  command.kind = kind;
  command.argument = argument;
  std::copy(uuid.begin(), uuid.end(), std::begin(command.uuid));
  // Far smaller than the socket's buffer: it is taken whole or not at all.
  const ssize_t sent = send(fd_, &command, sizeof(command), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent != static_cast<ssize_t>(sizeof(command))) {
    return absl::UnavailableError("the sampler takes no commands");
  }
  return absl::OkStatus();
}

absl::Status SamplerClient::UseDevice(std::string_view uuid) {
  return SendForDevice(kSamplerUseDevice, 0, uuid);
}

absl::Status SamplerClient::WindowAt(std::string_view uuid, uint64_t begin_ns) {
  return SendForDevice(kSamplerWindowAt, begin_ns, uuid);
}

absl::Status SamplerClient::CollectorSpent(std::string_view uuid, uint64_t cpu_ns) {
  return SendForDevice(kSamplerCollectorSpent, cpu_ns, uuid);
}

absl::Status SamplerClient::Progress(std::string_view uuid, uint64_t progress) {
  return SendForDevice(kSamplerProgress, progress, uuid);
}

absl::Status SamplerClient::SendForDevice(uint32_t kind, uint64_t argument, std::string_view uuid) {
  if (uuid.size() != sizeof(SamplerCommand::uuid)) {
    return absl::InvalidArgumentError(absl::StrCat("a GPU's UUID has 16 bytes, not ", uuid.size()));
  }
  return Send(kind, argument, uuid);
}

absl::Status SamplerClient::Yield() { return Send(kSamplerYield, 0); }
absl::Status SamplerClient::Resume() { return Send(kSamplerResume, 0); }
absl::Status SamplerClient::SetDuty(uint32_t duty_ppm) { return Send(kSamplerSetDuty, duty_ppm); }
absl::Status SamplerClient::StartWindow() { return Send(kSamplerStartWindow, 0); }

void SamplerClient::Stop(const FrameSink& sink, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const auto remaining = [&] {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                        deadline - std::chrono::steady_clock::now()));
  };
  // Where the command cannot be sent, closing the socket below says the same.
  if (running()) (void)Send(kSamplerQuit, 0);
  while (running() && remaining().count() > 0) {
    pollfd entry{fd_, POLLIN, 0};
    if (poll(&entry, 1, static_cast<int>(remaining().count())) > 0) (void)Read(sink);
  }
  const bool ends_itself = !running();
  Close();
  if (!ends_itself && !detached_ && pid_ > 0) kill(pid_, SIGKILL);
}

void SamplerClient::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

void SamplerClient::Reap(std::chrono::milliseconds limit) {
  if (pid_ <= 0) return;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      break;
    }
    nanosleep(&kReapPause, nullptr);
  }
  pid_ = 0;
}

}  // namespace utlz
