// The socket that an exporter listens on: loopback, unless another address is named.
//
// Not thread safe.
#ifndef UTLZ_TOOLS_EXPORTER_LISTENING_SOCKET_H_
#define UTLZ_TOOLS_EXPORTER_LISTENING_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz {

class ListeningSocket {
 public:
  // `place` is PORT (of 127.0.0.1), ADDRESS:PORT with a numeric address, [ADDRESS]:PORT of IPv6, or
  // unix:PATH. Port 0 takes a free one. InvalidArgument: none of these. Unavailable: something
  // listens there already. Others as the kernel says.
  static absl::StatusOr<ListeningSocket> Open(const std::string& place);

  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();  // a Unix socket's file goes with it

  int fd() const { return fd_.get(); }
  // "http://127.0.0.1:9758/metrics", "unix:/run/utlz/metrics"
  const std::string& place() const { return place_; }
  bool is_loopback() const { return is_loopback_; }

 private:
  ListeningSocket() = default;
  static absl::StatusOr<ListeningSocket> OpenUnix(const std::string& path);
  static absl::StatusOr<ListeningSocket> OpenInternet(const std::string& address,
                                                      const std::string& port);

  UniqueFd fd_;
  std::string place_;
  std::string unix_path_;
  bool is_loopback_ = true;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_LISTENING_SOCKET_H_
