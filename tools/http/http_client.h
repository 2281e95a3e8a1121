// One request to an HTTP server: its connection is made for it, and closed after it. Thread safety:
// functions only; each call blocks its thread, within its limits.
#ifndef UTLZ_TOOLS_HTTP_HTTP_CLIENT_H_
#define UTLZ_TOOLS_HTTP_HTTP_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "tools/http/http_reply.h"
#include "tools/http/http_url.h"
#include "tools/http/stop_signal.h"

namespace utlz {

struct HttpRequestParts {
  std::string method = "GET";
  std::string content_type = {};  // of the body
  std::string accept = {};
  std::string body = {};
};

struct HttpLimits {
  std::chrono::milliseconds time{2000};  // for all of it
  size_t reply_bytes = 64 << 10;
};

// Whatever status the server answers with. DeadlineExceeded: it took too long. ResourceExhausted:
// it says too much. DataLoss: it does not speak HTTP. Cancelled: `stop` was given. Others as the
// kernel says.
absl::StatusOr<HttpReply> Ask(const HttpUrl& url, const HttpRequestParts& request,
                              const HttpLimits& limits, const StopSignal& stop);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HTTP_HTTP_CLIENT_H_
