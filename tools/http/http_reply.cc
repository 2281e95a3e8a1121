#include "tools/http/http_reply.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "tools/http/trimmed.h"

namespace utlz {
namespace {

bool IsWord(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) {
                      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
                    });
}

// Cuts off a line, without what ends it; false where no end is.
bool NextLine(std::string_view* rest, std::string_view* line) {
  const size_t end = rest->find('\n');
  if (end == std::string_view::npos) return false;
  *line = rest->substr(0, end);
  if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
  *rest = rest->substr(end + 1);
  return true;
}

// "HTTP/1.1 200 OK"
std::optional<int> StatusOf(std::string_view line) {
  const size_t blank = line.find(' ');
  if (line.substr(0, 5) != "HTTP/" || blank == std::string_view::npos) return std::nullopt;
  const std::string_view number = line.substr(blank + 1, 3);
  int status = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), status);
  const bool whole = number.size() == 3 && read.ptr == number.data() + number.size();
  if (read.ec != std::errc() || !whole) return std::nullopt;
  return status >= 100 && status <= 599 ? std::make_optional(status) : std::nullopt;
}

}  // namespace

std::optional<HttpReply> ReadReply(std::string_view bytes) {
  std::string_view line;
  if (!NextLine(&bytes, &line)) return std::nullopt;
  const std::optional<int> status = StatusOf(line);
  if (!status.has_value()) return std::nullopt;
  std::optional<size_t> length;
  while (true) {
    if (!NextLine(&bytes, &line)) return std::nullopt;
    if (line.empty()) break;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trimmed(line.substr(colon + 1));
    if (IsWord(name, "transfer-encoding") || IsWord(name, "content-encoding")) return std::nullopt;
    if (!IsWord(name, "content-length")) continue;
    size_t told = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), told);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size()) return std::nullopt;
    length = told;
  }
  if (length.has_value() && bytes.size() < *length) return std::nullopt;
  return HttpReply{*status, std::string(bytes.substr(0, length.value_or(bytes.size())))};
}

}  // namespace utlz
