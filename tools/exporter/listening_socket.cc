#include "tools/exporter/listening_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr char kUnixPrefix[] = "unix:";
constexpr char kLoopback[] = "127.0.0.1";
constexpr int kBacklog = 128;
constexpr mode_t kUnixMode = 0660;

struct InternetAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

absl::Status WrongPlace(const std::string& place) {
  return absl::InvalidArgumentError(
      absl::StrCat(place,
                   " is no place for metrics: give PORT, ADDRESS:PORT with a numeric address, or "
                   "unix:PATH"));
}

std::optional<uint16_t> PortOf(const std::string& text) {
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, port);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return port;
}

std::optional<InternetAddress> ParseAddress(const std::string& address, uint16_t port) {
  InternetAddress parsed;
  auto* four = reinterpret_cast<sockaddr_in*>(&parsed.storage);
  if (inet_pton(AF_INET, address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    parsed.size = sizeof(*four);
    return parsed;
  }
  auto* six = reinterpret_cast<sockaddr_in6*>(&parsed.storage);
  if (inet_pton(AF_INET6, address.c_str(), &six->sin6_addr) != 1) return std::nullopt;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
  parsed.size = sizeof(*six);
  return parsed;
}

bool IsLoopback(const InternetAddress& address) {
  if (address.storage.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(&address.storage);
    return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* six = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

uint16_t BoundPort(int fd) {
  InternetAddress bound;
  bound.size = sizeof(bound.storage);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0) return 0;
  return ntohs(bound.storage.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port
                   : reinterpret_cast<const sockaddr_in6*>(&bound.storage)->sin6_port);
}

absl::Status ListenFailure(const std::string& place) {
  if (errno == EADDRINUSE) {
    return absl::UnavailableError(absl::StrCat("something listens on ", place,
                                               " already: choose another place with --metrics"));
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot listen for metrics on ", place));
}

// A socket's file that nobody listens on any more, of a run that was killed.
bool IsForsaken(const sockaddr_un& address) {
  struct stat file = {};
  if (lstat(address.sun_path, &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return probe.valid() &&
         connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

absl::StatusOr<ListeningSocket> ListeningSocket::Open(const std::string& place) {
  if (place.rfind(kUnixPrefix, 0) == 0) return OpenUnix(place.substr(std::strlen(kUnixPrefix)));
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos) return OpenInternet(kLoopback, place);
  std::string address = place.substr(0, colon);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string::npos) {
    return WrongPlace(place);
  }
  return OpenInternet(address, place.substr(colon + 1));
}

absl::StatusOr<ListeningSocket> ListeningSocket::OpenInternet(const std::string& address,
                                                              const std::string& port) {
  const bool has_colon = address.find(':') != std::string::npos;
  const std::string host = has_colon ? absl::StrCat("[", address, "]") : address;
  const std::optional<uint16_t> number = PortOf(port);
  if (!number.has_value()) return WrongPlace(absl::StrCat(host, ":", port));
  const std::optional<InternetAddress> parsed = ParseAddress(address, *number);
  if (!parsed.has_value()) return WrongPlace(absl::StrCat(host, ":", port));
  ListeningSocket made;
  made.fd_ =
      UniqueFd(socket(parsed->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // A run that ended a moment ago must not keep the next one from its port.
  const int yes = 1;
  if (!made.fd_.valid() ||
      setsockopt(made.fd_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(made.fd_.get(), reinterpret_cast<const sockaddr*>(&parsed->storage), parsed->size) !=
          0 ||
      listen(made.fd_.get(), kBacklog) != 0) {
    return ListenFailure(absl::StrCat(host, ":", port));
  }
  made.is_loopback_ = IsLoopback(*parsed);
  made.place_ = absl::StrCat("http://", host, ":", BoundPort(made.fd_.get()), "/metrics");
  return made;
}

absl::StatusOr<ListeningSocket> ListeningSocket::OpenUnix(const std::string& path) {
  sockaddr_un address = {};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("unix:", path, ": a socket's path has 1 to ",
                                                   sizeof(address.sun_path) - 1, " bytes"));
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  ListeningSocket made;
  made.fd_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.fd_.valid()) return ListenFailure(absl::StrCat("unix:", path));
  if (IsForsaken(address)) unlink(path.c_str());
  if (bind(made.fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return ListenFailure(absl::StrCat("unix:", path));
  }
  made.unix_path_ = path;
  made.place_ = absl::StrCat("unix:", path);
  if (chmod(path.c_str(), kUnixMode) != 0 || listen(made.fd_.get(), kBacklog) != 0) {
    return ListenFailure(made.place_);
  }
  return made;
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : fd_(std::move(other.fd_)),
      place_(std::move(other.place_)),
      unix_path_(std::exchange(other.unix_path_, "")),
      is_loopback_(other.is_loopback_) {}

ListeningSocket::~ListeningSocket() {
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
}

}  // namespace utlz
