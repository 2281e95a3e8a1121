// The head of an HTTP/1 request, as far as the exporter needs it. Trust: anybody may send anything.
// Thread safety: functions only.
#ifndef UTLZ_TOOLS_EXPORTER_HTTP_REQUEST_H_
#define UTLZ_TOOLS_EXPORTER_HTTP_REQUEST_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace utlz {

// A longer head is refused.
inline constexpr size_t kMaxRequestBytes = 8192;

enum class RequestMethod { kGet, kHead, kOther };

struct HttpRequest {
  RequestMethod method = RequestMethod::kOther;
  std::string path;    // without what follows a question mark
  std::string accept;  // of all such headers, with commas between
};

enum class RequestState {
  kIncomplete,  // more bytes must come
  kComplete,
  kMalformed,
  kTooLong,
};

// Reads the first request in `bytes`, which begin where a connection does; `request` is set where
// it is complete.
RequestState ReadRequest(std::string_view bytes, HttpRequest* request);

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_HTTP_REQUEST_H_
