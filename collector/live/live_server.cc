#include "collector/live/live_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/files/runtime_folder.h"
#include "collector/live/live_folder.h"
#include "collector/live/live_message.h"

namespace utlz {
namespace {

constexpr int kBacklog = 8;

UniqueFd MakeSocket() {
  return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::optional<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return std::nullopt;
  path.copy(address.sun_path, path.size());
  return address;
}

bool IsForsaken(const std::string& path) {
  const std::optional<sockaddr_un> address = AddressOf(path);
  const UniqueFd probe = MakeSocket();
  return address && probe.valid() &&
         connect(probe.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) !=
             0 &&
         errno == ECONNREFUSED;
}

bool MayRead(int connection) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

}  // namespace

absl::StatusOr<LiveServer> LiveServer::Listen(const std::string& folder) {
  const absl::StatusOr<UniqueFd> own = OpenOwnFolder(folder);
  if (!own.ok()) return own.status();
  for (const LiveSocketPath& socket : FindLiveSockets({folder})) {
    if (IsForsaken(socket.path)) unlink(socket.path.c_str());
  }
  const std::string path = absl::StrCat(folder, "/", LiveSocketName(getpid()));
  // Under its name there is never a socket that nobody listens at.
  const std::string begun = path + ".new";
  const std::optional<sockaddr_un> address = AddressOf(begun);
  if (!address) return absl::InvalidArgumentError(absl::StrCat(folder, ": the path is too long"));
  UniqueFd listener = MakeSocket();
  unlink(begun.c_str());
  if (!listener.valid() || fchmod(listener.get(), S_IRUSR | S_IWUSR) != 0 ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0 ||
      listen(listener.get(), kBacklog) != 0 || rename(begun.c_str(), path.c_str()) != 0) {
    const absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("cannot listen at ", path));
    unlink(begun.c_str());
    return status;
  }
  return LiveServer(std::move(listener), path);
}

LiveServer::LiveServer(LiveServer&& other) noexcept
    : listener_(std::move(other.listener_)),
      path_(std::exchange(other.path_, "")),
      pace_(other.pace_),
      readers_(std::move(other.readers_)) {}

LiveServer::~LiveServer() {
  if (!path_.empty()) unlink(path_.c_str());
}

bool LiveServer::Serve(uint64_t now_ns) {
  TakeIn(now_ns);
  for (Reader& reader : readers_) SendPending(&reader);
  std::erase_if(readers_, [](const Reader& reader) { return reader.gone; });
  return std::any_of(readers_.begin(), readers_.end(),
                     [](const Reader& reader) { return reader.pending.empty(); });
}

void LiveServer::TakeIn(uint64_t now_ns) {
  while (pace_.MayListen(now_ns)) {
    UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection.valid()) {
      if (pace_.Failed(errno, now_ns)) continue;
      return;
    }
    if (readers_.size() < kMostReaders && MayRead(connection.get())) {
      readers_.push_back({.connection = std::move(connection)});
    } else {
      pace_.Refused(now_ns);
    }
  }
}

void LiveServer::Send(const LiveSnapshot& snapshot) {
  const std::string message = EncodeLive(snapshot);
  for (Reader& reader : readers_) {
    if (!reader.pending.empty()) continue;
    reader.pending = message;
    SendPending(&reader);
  }
}

// One that reads nothing keeps its place, and a message at most; one that hung up loses it.
void LiveServer::SendPending(Reader* reader) {
  char ignored = 0;
  // It says nothing: what can be read is the end.
  const ssize_t said = recv(reader->connection.get(), &ignored, sizeof(ignored), MSG_DONTWAIT);
  if (said >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
    reader->gone = true;
    return;
  }
  while (!reader->pending.empty()) {
    const ssize_t sent = send(reader->connection.get(), reader->pending.data(),
                              reader->pending.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      reader->gone = errno != EAGAIN && errno != EWOULDBLOCK;
      return;
    }
    reader->pending.erase(0, static_cast<size_t>(sent));
  }
}

}  // namespace utlz
