// What a server answered. Pure, thread-safe.
#ifndef UTLZ_TOOLS_HTTP_HTTP_REPLY_H_
#define UTLZ_TOOLS_HTTP_HTTP_REPLY_H_

#include <optional>
#include <string>
#include <string_view>

namespace utlz {

struct HttpReply {
  int status = 0;  // 100 to 599
  std::string body = {};
};

// The answer to a request of HTTP/1.0, all that came until the server closed the connection.
// Nothing: it is no such answer, it is cut short, or its body is in chunks, which such a request
// does not allow.
std::optional<HttpReply> ReadReply(std::string_view bytes);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HTTP_HTTP_REPLY_H_
