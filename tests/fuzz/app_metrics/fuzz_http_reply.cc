// What a server may answer.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/http/http_reply.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const auto reply = utlz::ReadReply({reinterpret_cast<const char*>(bytes), size});
  if (!reply.has_value()) return 0;
  if (reply->status < 100 || reply->status > 599 || reply->body.size() > size) std::abort();
  return 0;
}
