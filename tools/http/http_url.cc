#include "tools/http/http_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr uint16_t kDefaultPort = 80;
constexpr size_t kMostBytes = 2048;

absl::Status WrongUrl(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", std::string(text),
                   "' is no address that can be asked: write http://ADDRESS:PORT/PATH with a "
                   "numeric address or localhost"));
}

bool ReadPort(std::string_view text, uint16_t* port) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *port);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool ReadAddress(std::string_view text, uint16_t port, HttpUrl* url) {
  const std::string address(text == "localhost" ? "127.0.0.1" : text);
  auto* four = reinterpret_cast<sockaddr_in*>(&url->address);
  if (inet_pton(AF_INET, address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    url->address_bytes = sizeof(*four);
    url->is_loopback = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    return true;
  }
  auto* six = reinterpret_cast<sockaddr_in6*>(&url->address);
  if (inet_pton(AF_INET6, address.c_str(), &six->sin6_addr) != 1) return false;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
  url->address_bytes = sizeof(*six);
  url->is_loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
  return true;
}

// What could end a header, or begin another.
bool HasOddCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte <= 0x20 || byte >= 0x7f;
  });
}

}  // namespace

absl::StatusOr<HttpUrl> ParseHttpUrl(std::string_view text) {
  if (text.substr(0, kScheme.size()) != kScheme || text.size() > kMostBytes ||
      HasOddCharacter(text)) {
    return WrongUrl(text.substr(0, kMostBytes));
  }
  const std::string_view rest = text.substr(kScheme.size());
  const std::string_view place = rest.substr(0, rest.find('/'));
  HttpUrl url;
  url.host = place;
  url.path = place.size() < rest.size() ? std::string(rest.substr(place.size())) : "/";
  std::string_view address = place;
  uint16_t port = kDefaultPort;
  const size_t colon = place.rfind(':');
  const size_t bracket = place.rfind(']');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    if (!ReadPort(place.substr(colon + 1), &port)) return WrongUrl(text);
    address = place.substr(0, colon);
  }
  const bool bracketed = address.size() > 2 && address.front() == '[' && address.back() == ']';
  if (bracketed) address = address.substr(1, address.size() - 2);
  if (bracketed != (address.find(':') != std::string_view::npos) ||
      !ReadAddress(address, port, &url)) {
    return WrongUrl(text);
  }
  return url;
}

}  // namespace utlz
