// What anybody may send to the metrics server: a request is read the same in one piece and byte by
// byte, and what it asks for is answered with a page of either format.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/exporter/exposition.h"
#include "tools/exporter/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  utlz::HttpRequest whole;
  const utlz::RequestState state = utlz::ReadRequest(text, &whole);
  utlz::HttpRequest begun;
  for (size_t length = 0; length < size; ++length) {
    const utlz::RequestState before = utlz::ReadRequest(text.substr(0, length), &begun);
    if (before == utlz::RequestState::kIncomplete) continue;
    // The end of the first request decides, whatever follows.
    if (before != state || begun.path != whole.path || begun.accept != whole.accept) std::abort();
    break;
  }
  if (state != utlz::RequestState::kComplete) return 0;
  if (whole.path.empty() || whole.path.front() != '/') std::abort();
  if (whole.path.size() + whole.accept.size() > utlz::kMaxRequestBytes) std::abort();
  utlz::ChooseFormat(whole.accept);
  return 0;
}
