#include "tools/exporter/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr char kPlain[] = "text/plain; charset=utf-8";

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

HttpAnswer Refusal(const char* status, const char* sentence) {
  return MakeAnswer(status, kPlain, std::make_shared<const std::string>(sentence), false);
}

}  // namespace

HttpAnswer MakeAnswer(const char* status, const char* content_type, SharedText body, bool is_head) {
  HttpAnswer answer;
  answer.head = absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", content_type,
                             "\r\nContent-Length: ", body == nullptr ? 0 : body->size(),
                             "\r\nConnection: close\r\n\r\n");
  if (!is_head) answer.body = std::move(body);
  return answer;
}

bool Connection::Continue(const Answerer& answer) { return writing_ ? Write() : Read(answer); }

bool Connection::Read(const Answerer& answer) {
  std::array<char, kMaxRequestBytes> bytes;
  const ssize_t count =
      recv(socket_.get(), bytes.data(), kMaxRequestBytes - request_.size(), MSG_DONTWAIT);
  if (count < 0) return WouldBlock();
  if (count == 0) return false;
  request_.append(bytes.data(), static_cast<size_t>(count));
  HttpRequest request;
  switch (ReadRequest(request_, &request)) {
    case RequestState::kIncomplete:
      return true;
    case RequestState::kComplete:
      answer_ = answer(request);
      break;
    case RequestState::kMalformed:
      answer_ = Refusal("400 Bad Request", "This is no HTTP request.\n");
      break;
    case RequestState::kTooLong:
      answer_ = Refusal("431 Request Header Fields Too Large", "The request is too long.\n");
      break;
  }
  writing_ = true;
  return Write();
}

bool Connection::Write() {
  const size_t head = answer_.head.size();
  const size_t whole = head + (answer_.body == nullptr ? 0 : answer_.body->size());
  while (written_ < whole) {
    const bool in_head = written_ < head;
    const size_t before = written_;
    if (!Send(in_head ? answer_.head : *answer_.body, in_head ? written_ : written_ - head)) {
      return WouldBlock();
    }
    if (written_ == before) return false;
  }
  shutdown(socket_.get(), SHUT_WR);
  return false;
}

bool Connection::Send(const std::string& text, size_t offset) {
  const ssize_t count =
      send(socket_.get(), text.data() + offset, text.size() - offset, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return false;
  written_ += static_cast<size_t>(count);
  return true;
}

}  // namespace utlz
