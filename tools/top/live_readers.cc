#include "tools/top/live_readers.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/files/runtime_folder.h"
#include "collector/live/live_folder.h"

namespace utlz::top {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr int kMostReads = 32;  // in one call, however much a collector sends
constexpr size_t kMostFolders = 64;

UniqueFd ConnectTo(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return UniqueFd();
  path.copy(address.sun_path, path.size());
  UniqueFd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection.valid() || connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
                                     sizeof(address)) != 0) {
    return UniqueFd();
  }
  return connection;
}

std::optional<ucred> PeerOf(const UniqueFd& connection) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

bool MayBeHeard(uid_t user) { return user == geteuid() || user == 0 || geteuid() == 0; }

std::optional<uid_t> OwnerOf(uint64_t pid) {
  struct stat folder = {};
  if (stat(absl::StrCat("/proc/", pid).c_str(), &folder) != 0) return std::nullopt;
  return folder.st_uid;
}

// Where root finds what others' collectors made.
void AddFoldersOfUsers(std::vector<std::string>* folders) {
  std::error_code error;
  for (fs::directory_iterator entry("/run/user", error), end; !error && entry != end;
       entry.increment(error)) {
    if (folders->size() < kMostFolders) folders->push_back(entry->path().string() + "/utlz");
  }
  error.clear();
  for (fs::directory_iterator entry("/tmp", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("utlz-") && folders->size() < kMostFolders) {
      folders->push_back(entry->path().string());
    }
  }
}

}  // namespace

std::vector<std::string> LiveFolders() {
  std::vector<std::string> folders;
  const absl::StatusOr<std::string> own = RuntimeFolder();
  if (own.ok()) folders.push_back(*own);
  if (geteuid() == 0) AddFoldersOfUsers(&folders);
  return folders;
}

void RemoveProcessesOfOthers(uid_t user, LiveSnapshot* snapshot) {
  std::set<uint64_t> kept;
  auto& processes = *snapshot->mutable_processes();
  for (int i = processes.size() - 1; i >= 0; --i) {
    if (OwnerOf(processes[i].pid()) == user) {
      kept.insert(processes[i].pid());
    } else {
      processes.DeleteSubrange(i, 1);
    }
  }
  if (kept.empty()) {
    snapshot->clear_devices();
    snapshot->clear_kernels();
    snapshot->clear_layers();
    snapshot->clear_lines();
  }
}

void LiveReaders::Connect() {
  for (const LiveSocketPath& socket : FindLiveSockets(folders_)) {
    if (readers_.contains(socket.path)) continue;
    UniqueFd connection = ConnectTo(socket.path);
    if (!connection.valid()) continue;
    const std::optional<ucred> peer = PeerOf(connection);
    if (!peer || !MayBeHeard(peer->uid)) continue;
    readers_[socket.path] = {.connection = std::move(connection),
                             .collector = peer->pid > 0 ? peer->pid : socket.collector,
                             .user = peer->uid};
  }
}

// False: nothing more comes from there.
bool LiveReaders::Receive(uint64_t now_ns, Reader* reader) {
  const auto take = [&](LiveSnapshot snapshot) {
    snapshot.set_collector_pid(static_cast<uint32_t>(reader->collector));
    snapshot.set_accepted(reader->user == geteuid() || reader->user == 0);
    if (!snapshot.accepted()) {
      RemoveProcessesOfOthers(reader->user, &snapshot);
    }
    reader->last = std::move(snapshot);
    reader->last_ns = now_ns;
  };
  std::string bytes(kReadBytes, '\0');
  for (int i = 0; i < kMostReads; ++i) {
    const ssize_t count = recv(reader->connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (count <= 0) return false;
    const std::string_view said(bytes.data(), static_cast<size_t>(count));
    if (!reader->stream.Push(said, take).ok()) return false;
  }
  return true;
}

std::vector<LiveSnapshot> LiveReaders::Read(uint64_t now_ns) {
  Connect();
  std::vector<LiveSnapshot> snapshots;
  for (auto entry = readers_.begin(); entry != readers_.end();) {
    Reader& reader = entry->second;
    if (!Receive(now_ns, &reader)) {
      entry = readers_.erase(entry);
      continue;
    }
    if (reader.last && now_ns < reader.last_ns + kStaleNs) snapshots.push_back(*reader.last);
    ++entry;
  }
  return snapshots;
}

std::vector<pid_t> LiveReaders::Silent() const {
  std::vector<pid_t> silent;
  for (const auto& [path, reader] : readers_) {
    if (!reader.last) silent.push_back(reader.collector);
  }
  return silent;
}

}  // namespace utlz::top
