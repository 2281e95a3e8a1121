#include "tools/attach/python_loader.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/attach/python_script.h"
#include "tools/attach/send_descriptors.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/proc_file.h"
#include "tools/attach/target/process_facts.h"
#include "tools/attach/target/python_runtime.h"
#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kScriptName[] = "attach.py";
constexpr char kSocketName[] = "socket";
// Many programs look for requests often without being told to: then no word that the interpreter
// changes itself is written to.
constexpr milliseconds kUntilAskedToLook{20};
constexpr milliseconds kLookInterval{5};
// Once the request has been taken, or the script has begun, the rest is a matter of milliseconds.
constexpr milliseconds kScriptPatience{1000};
constexpr milliseconds kReportInterval{1000};
// From the interpreter's look at the request to its opening of the script.
constexpr milliseconds kUntilOpened{50};
constexpr int kMaxDescriptor = 1 << 24;

template <typename Value>
bool WriteValue(const RemoteMemory& memory, uint64_t address, const Value& value) {
  return memory.Write(address, {reinterpret_cast<const uint8_t*>(&value), sizeof(value)});
}

// Waits for either; true if `descriptor` has something to say.
bool AwaitInput(int descriptor, int pidfd, milliseconds wait) {
  pollfd events[2] = {{descriptor, POLLIN, 0}, {pidfd, POLLIN, 0}};
  return poll(events, 2, static_cast<int>(wait.count())) > 0 && events[0].revents != 0;
}

bool HasEnded(int pidfd) {
  pollfd event = {pidfd, POLLIN, 0};
  return poll(&event, 1, 0) > 0;
}

absl::Status NotAsked(const absl::Status& reason) {
  return absl::UnavailableError(absl::StrCat("could not be asked: ", reason.message()));
}

}  // namespace

// The request as it lies in the interpreter's memory.
struct PythonLoader::Request {
  RemoteMemory memory;
  PythonRequestPlace place;

  bool Make(const std::string& script_path) const {
    std::string path = script_path;
    path.push_back('\0');
    return path.size() <= kPythonScriptPathBytes &&
           memory.Write(place.script_path,
                        {reinterpret_cast<const uint8_t*>(path.data()), path.size()}) &&
           WriteValue(memory, place.pending_call, int32_t{1});
  }
  // An event that other threads set between reading and writing is lost, as with sys.remote_exec;
  // setting one anew that was just cleared does nothing.
  bool AskToLook() const {
    const auto events = memory.ReadValue<uint8_t>(place.eval_breaker);
    return events && WriteValue(memory, place.eval_breaker,
                                static_cast<uint8_t>(*events | kPythonPleaseStop));
  }
  bool IsPending() const { return memory.ReadValue<int32_t>(place.pending_call) == 1; }
  void TakeBack() const { WriteValue(memory, place.pending_call, int32_t{0}); }
};

PythonLoader::~PythonLoader() {
  if (taken_back_) std::this_thread::sleep_until(*taken_back_ + kUntilOpened);
}

absl::Status PythonLoader::Load(LoadResult& result) {
  const auto map = MemoryMap::Read(pid_);
  if (!map.ok()) return map.status();
  Request request{RemoteMemory(pid_), {}};
  const auto place = FindPythonRequestPlace(request.memory, *map);
  if (!place.ok()) return place.status();
  request.place = *place;
  auto file = library_.CreateMemoryFile(kAgentFileName);
  if (!file.ok()) return NotAsked(file.status());
  auto folder = TargetFolder::Create(pid_);
  if (!folder.ok()) return NotAsked(folder.status());
  folder_.emplace(*std::move(folder));
  const auto listener = folder_->Listen(kSocketName);
  if (!listener.ok()) return NotAsked(listener.status());
  absl::Status written = folder_->WriteFile(
      kScriptName, PythonScript(absl::StrCat(folder_->path(), "/", kSocketName)));
  if (!written.ok()) return NotAsked(written);

  const auto talk = AwaitScript(request, *listener);
  if (!talk.ok()) return talk.status();
  auto link = AcceptUntil(*listener, kScriptPatience);
  if (!link.ok()) return link.status();
  const auto config = ReceiveNumber(*talk);
  if (!config.ok()) return config.status();
  if (absl::Status status = library_.Finish(*file, *config); !status.ok()) return status;
  const int memory_file = file->get();
  const uint8_t byte = 0;
  if (!SendDescriptors(talk->get(), {&byte, 1}, {&memory_file, 1})) {
    return absl::ErrnoToStatus(errno, "did not take the library");
  }
  if (absl::Status status = AwaitLoaded(*talk); !status.ok()) return status;
  result.socket = *std::move(link);
  result.by_python = true;
  return absl::OkStatus();
}

// When this returns an error, no script finds a listener any more.
absl::StatusOr<UniqueFd> PythonLoader::AwaitScript(const Request& request,
                                                   const UniqueFd& listener) {
  if (!request.Make(absl::StrCat(folder_->path(), "/", kScriptName))) {
    return absl::UnavailableError("could not be asked: its memory cannot be written to");
  }
  const auto begin = steady_clock::now();
  std::optional<steady_clock::time_point> taken;
  for (bool asked_to_look = false;;) {
    auto talk = AcceptUntil(listener, kLookInterval);
    if (talk.ok() || absl::IsNotFound(talk.status())) return talk;
    const auto now = steady_clock::now();
    if (!taken && !request.IsPending()) taken = now;
    if (taken) {
      if (now - *taken >= kScriptPatience) break;
      continue;
    }
    if (now - begin >= options_.python_patience) break;
    if (!asked_to_look && now - begin >= kUntilAskedToLook) asked_to_look = request.AskToLook();
  }
  taken_back_ = steady_clock::now();
  if (taken) return absl::UnavailableError("was asked to load the agent and could not");
  request.TakeBack();
  return absl::UnavailableError(
      absl::StrCat("was asked to load the agent and did not answer within ",
                   options_.python_patience.count(), " ms"));
}

absl::StatusOr<UniqueFd> PythonLoader::AcceptUntil(const UniqueFd& listener, milliseconds wait) {
  const auto deadline = steady_clock::now() + wait;
  auto left = wait;
  do {
    if (!AwaitInput(listener.get(), pidfd_, left)) break;
    UniqueFd socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ucred peer = {};
    socklen_t size = sizeof(peer);
    if (socket.valid() && getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        peer.pid == pid_) {
      return socket;
    }
    left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
  } while (left > milliseconds(0));
  if (HasEnded(pidfd_)) return absl::NotFoundError(absl::StrCat("process ", pid_, " ended"));
  return absl::UnavailableError("did not go on loading the agent");
}

absl::StatusOr<AttachConfig> PythonLoader::ReceiveNumber(const UniqueFd& talk) {
  char text[16] = {};
  int number = -1;
  struct stat status = {};
  if (!AwaitInput(talk.get(), pidfd_, kScriptPatience) ||
      recv(talk.get(), text, sizeof(text) - 1, MSG_DONTWAIT) <= 0 ||
      !absl::SimpleAtoi(text, &number) || number < 0 || number > kMaxDescriptor ||
      stat(absl::StrCat("/proc/", pid_, "/fd/", number).c_str(), &status) != 0 ||
      !S_ISSOCK(status.st_mode)) {
    return absl::UnavailableError("began to load the agent and gave up");
  }
  AttachConfig config = kEmptyAttachConfig;
  config.loaded_by_attach = 1;
  config.control_socket = number;
  config.control_socket_device = status.st_dev;
  config.control_socket_inode = status.st_ino;
  options_.parameters.copy(config.parameters, sizeof(config.parameters) - 1);
  return config;
}

absl::Status PythonLoader::AwaitLoaded(const UniqueFd& talk) {
  const auto begin = steady_clock::now();
  while (!AwaitInput(talk.get(), pidfd_, kReportInterval)) {
    if (HasEnded(pidfd_)) break;
    if (options_.on_waiting) {
      options_.on_waiting(std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin));
    }
  }
  char answer[kMaxScriptAnswerBytes] = {};
  const ssize_t size = recv(talk.get(), answer, sizeof(answer), MSG_DONTWAIT);
  const std::string text(answer, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  if (text == kScriptLoaded) return absl::OkStatus();
  if (HasEnded(pidfd_)) return absl::NotFoundError(absl::StrCat("process ", pid_, " ended"));
  return absl::AbortedError(absl::StrCat("the target's loader refused the library: ",
                                         PrintableText(text, sizeof(answer))));
}

}  // namespace utlz::attach
