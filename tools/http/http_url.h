// Where an HTTP server is: "http://127.0.0.1:8000/metrics". Numeric addresses and "localhost"
// alone: nobody is asked what a name means. Thread safety: functions only.
#ifndef UTLZ_TOOLS_HTTP_HTTP_URL_H_
#define UTLZ_TOOLS_HTTP_HTTP_URL_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace utlz {

struct HttpUrl {
  sockaddr_storage address = {};
  socklen_t address_bytes = 0;
  bool is_loopback = false;
  std::string host = {};  // with the port, as the Host header has it
  std::string path = {};  // begins with a slash; "/" where none was given

  std::string Text() const { return "http://" + host + path; }
};

// InvalidArgument: not such an address.
absl::StatusOr<HttpUrl> ParseHttpUrl(std::string_view text);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HTTP_HTTP_URL_H_
