#include "tools/attach/agent_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/attach/send_descriptors.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/proc_file.h"
#include "tools/attach/target/process_facts.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxSocketListBytes = 64 << 20;
constexpr size_t kMaxThreads = 65536;

bool HasAgentLibrary(pid_t pid) {
  const auto map = MemoryMap::Read(pid);
  if (!map.ok()) return false;
  ProcessFacts facts;
  AddMappedLibraries(*map, facts);
  return facts.has_agent;
}

// The number that the process has in its own, innermost namespace.
pid_t OwnProcessId(pid_t pid) {
  const auto status = ReadSmallFile(absl::StrCat("/proc/", pid, "/status"), 64 << 10);
  const std::string numbers =
      status.ok() ? StatusField(*status, "NSpid").value_or("") : std::string();
  const std::vector<std::string> parts =
      absl::StrSplit(numbers, absl::ByAnyChar("\t "), absl::SkipEmpty());
  pid_t own = pid;
  if (!parts.empty() && absl::SimpleAtoi(parts.back(), &own)) return own;
  return pid;
}

absl::StatusOr<UniqueFd> ConnectToListener(const std::string& name, pid_t pid) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("the name of the agent's socket is too long");
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  UniqueFd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred peer = {};
  socklen_t peer_size = sizeof(peer);
  if (!connection.valid() ||
      connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot connect to the agent's socket");
  }
  // Anybody can bind a name.
  if (peer.pid != pid) {
    return absl::PermissionDeniedError("another process pretends to be the agent");
  }
  return connection;
}

// The number under which a process holds the socket.
std::optional<int> DescriptorOf(pid_t pid, uint64_t inode) {
  const std::string wanted = absl::StrCat("socket:[", inode, "]");
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/fd"), error)) {
    const auto target = ReadLink(entry.path().string());
    int number = -1;
    if (target == wanted && absl::SimpleAtoi(entry.path().filename().string(), &number)) {
      return number;
    }
  }
  return std::nullopt;
}

absl::Status SendRequest(int socket, ControlVerb verb, const std::vector<int>& descriptors,
                         bool cupti_is_named = false) {
  ControlRequest request = {};
  request.magic = kControlMagic;
  request.version = kControlVersion;
  request.verb = static_cast<uint32_t>(verb);
  request.cupti_is_named = cupti_is_named ? 1 : 0;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&request);
  if (!SendDescriptors(socket, {bytes, sizeof(request)}, descriptors)) {
    return absl::ErrnoToStatus(errno, "cannot speak to the agent");
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> ConnectThroughPair(pid_t pid, uint64_t inode) {
  const auto number = DescriptorOf(pid, inode);
  if (!number) return absl::NotFoundError("the agent's pair is closed, or hidden from this user");
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return absl::NotFoundError(absl::StrCat("there is no process ", pid));
  const UniqueFd pair(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd.get(), *number, 0)));
  if (!pair.valid()) {
    return absl::ErrnoToStatus(errno, "the agent's pair is for those who may trace the process");
  }
  struct stat status = {};
  if (fstat(pair.get(), &status) != 0 || status.st_ino != inode) {
    return absl::UnavailableError("the agent's pair has just been closed");
  }
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket pair");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  absl::Status sent = SendRequest(pair.get(), ControlVerb::kConnect, {theirs.get()});
  if (!sent.ok()) return sent;
  return ours;
}

}  // namespace

AgentPresence ReadAgentPresence(pid_t pid) {
  if (!HasAgentLibrary(pid)) return AgentPresence::kAbsent;
  // The agent's thread comes before those that CUPTI makes on it, which inherit its name.
  for (const pid_t tid : ThreadsOf(pid, kMaxThreads)) {
    const auto name = ReadSmallFile(absl::StrCat("/proc/", pid, "/task/", tid, "/comm"), 64);
    if (!name.ok()) continue;
    if (*name == absl::StrCat(kInactiveThreadName, "\n")) return AgentPresence::kInactive;
    if (*name == absl::StrCat(kActiveThreadName, "\n")) return AgentPresence::kActive;
    if (*name == absl::StrCat(kRunThreadName, "\n")) return AgentPresence::kOfRun;
  }
  return AgentPresence::kWithoutThread;
}

const char* PresenceName(AgentPresence presence) {
  switch (presence) {
    case AgentPresence::kAbsent:
      return "absent";
    case AgentPresence::kInactive:
      return "inactive";
    case AgentPresence::kActive:
    case AgentPresence::kOfRun:
      return "active";
    case AgentPresence::kWithoutThread:
      return "ended";
  }
  return "";
}

// Num RefCount Protocol Flags Type St Inode Path
std::vector<AgentSocket> FindAgentSockets(const std::string& net_unix, pid_t process_id) {
  std::vector<AgentSocket> sockets;
  for (const absl::string_view line : absl::StrSplit(net_unix, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ', absl::SkipEmpty());
    AgentSocket socket;
    if (parts.size() != 8 || !absl::SimpleAtoi(parts[6], &socket.inode)) continue;
    const auto has_prefix = [&](const char* prefix) {
      return absl::StartsWith(parts[7], absl::StrCat("@", prefix, process_id, "-"));
    };
    socket.is_listener = has_prefix(kListenerNamePrefix);
    if (!socket.is_listener && !has_prefix(kPairNamePrefix)) continue;
    socket.name = std::string(parts[7].substr(1));
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

absl::StatusOr<AgentConnection> ConnectToAgent(pid_t pid, bool with_library) {
  const auto list = ReadSmallFile(absl::StrCat("/proc/", pid, "/net/unix"), kMaxSocketListBytes);
  if (!list.ok()) return list.status();
  const std::vector<AgentSocket> sockets = FindAgentSockets(*list, OwnProcessId(pid));
  absl::Status failure = absl::NotFoundError(
      "its agent cannot be reached: the program has closed the agent's descriptors");
  const bool pair_first = with_library || geteuid() == 0;
  for (const bool by_pair : {pair_first, !pair_first}) {
    if (with_library && !by_pair) continue;
    for (const AgentSocket& socket : sockets) {
      if (socket.is_listener == by_pair) continue;
      auto connection =
          by_pair ? ConnectThroughPair(pid, socket.inode) : ConnectToListener(socket.name, pid);
      if (connection.ok()) return AgentConnection{*std::move(connection), by_pair};
      failure = connection.status();
    }
  }
  return failure;
}

absl::Status AskToTrace(const UniqueFd& connection, int collector, const CuptiOffer& cupti) {
  std::vector<int> descriptors = {collector};
  if (cupti.named >= 0) descriptors.push_back(cupti.named);
  if (cupti.last_resort >= 0) descriptors.push_back(cupti.last_resort);
  return SendRequest(connection.get(), ControlVerb::kTrace, descriptors, cupti.named >= 0);
}

absl::StatusOr<ControlAnswer> ReceiveAnswer(const UniqueFd& connection,
                                            std::chrono::milliseconds patience) {
  pollfd ready = {connection.get(), POLLIN, 0};
  const int count = poll(&ready, 1, static_cast<int>(patience.count()));
  if (count <= 0) return absl::DeadlineExceededError("the agent does not answer");
  ControlAnswer answer = {};
  const ssize_t size = recv(connection.get(), &answer, sizeof(answer), MSG_DONTWAIT);
  if (size <= 0) return absl::AbortedError("the agent hung up");
  const bool ours =
      size >= static_cast<ssize_t>(2 * sizeof(uint32_t)) && answer.magic == kControlMagic;
  if (ours && answer.version != kControlVersion) {
    return absl::InvalidArgumentError(
        "its agent is of another utlz release; attach with the one that loaded it");
  }
  if (!ours || size != sizeof(answer)) {
    return absl::InvalidArgumentError("the agent's answer makes no sense");
  }
  return answer;
}

}  // namespace utlz::attach
