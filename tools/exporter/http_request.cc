#include "tools/exporter/http_request.h"

#include <algorithm>
#include <optional>

#include "tools/http/trimmed.h"

namespace utlz {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";

bool IsControl(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

bool HasControl(std::string_view line) { return std::any_of(line.begin(), line.end(), IsControl); }

bool IsAccept(std::string_view name) {
  constexpr std::string_view kAccept = "accept";
  return std::equal(name.begin(), name.end(), kAccept.begin(), kAccept.end(),
                    [](char a, char b) { return (static_cast<unsigned char>(a) | 0x20) == b; });
}

RequestMethod MethodOf(std::string_view word) {
  if (word == "GET") return RequestMethod::kGet;
  return word == "HEAD" ? RequestMethod::kHead : RequestMethod::kOther;
}

// "GET /metrics?x=1 HTTP/1.1"
bool ReadRequestLine(std::string_view line, HttpRequest* request) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || last <= first + 1) return false;
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.front() != '/' || target.find(' ') != std::string_view::npos) return false;
  request->method = MethodOf(line.substr(0, first));
  request->path = target.substr(0, target.find('?'));
  return true;
}

bool ReadHeader(std::string_view line, HttpRequest* request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  if (!IsAccept(line.substr(0, colon))) return true;
  if (!request->accept.empty()) request->accept += ',';
  request->accept += Trimmed(line.substr(colon + 1));
  return true;
}

std::optional<HttpRequest> ReadHead(std::string_view head) {
  HttpRequest request;
  bool is_first = true;
  while (!head.empty()) {
    const size_t end = head.find(kLineEnd);
    const std::string_view line = head.substr(0, end);
    head = end == std::string_view::npos ? std::string_view() : head.substr(end + kLineEnd.size());
    if (HasControl(line)) return std::nullopt;
    if (!(is_first ? ReadRequestLine(line, &request) : ReadHeader(line, &request))) {
      return std::nullopt;
    }
    is_first = false;
  }
  if (is_first) return std::nullopt;
  return request;
}

}  // namespace

RequestState ReadRequest(std::string_view bytes, HttpRequest* request) {
  const size_t end = bytes.substr(0, kMaxRequestBytes).find(kHeadEnd);
  if (end == std::string_view::npos) {
    return bytes.size() >= kMaxRequestBytes ? RequestState::kTooLong : RequestState::kIncomplete;
  }
  std::optional<HttpRequest> read = ReadHead(bytes.substr(0, end));
  if (!read.has_value()) return RequestState::kMalformed;
  *request = *std::move(read);
  return RequestState::kComplete;
}

}  // namespace utlz
