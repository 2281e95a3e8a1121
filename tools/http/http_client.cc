#include "tools/http/http_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "collector/unique_fd.h"

namespace utlz {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string HeadOf(const HttpUrl& url, const HttpRequestParts& request) {
  std::string head = absl::StrCat(request.method, " ", url.path, " HTTP/1.0\r\nHost: ", url.host,
                                  "\r\nUser-Agent: utlz\r\nConnection: close\r\n");
  if (!request.accept.empty()) absl::StrAppend(&head, "Accept: ", request.accept, "\r\n");
  if (!request.body.empty()) {
    absl::StrAppend(&head, "Content-Type: ", request.content_type,
                    "\r\nContent-Length: ", request.body.size(), "\r\n");
  }
  return head + "\r\n";
}

class Exchange {
 public:
  Exchange(const HttpUrl& url, const HttpLimits& limits, const StopSignal& stop)
      : url_(url), limits_(limits), stop_(stop), deadline_(Clock::now() + limits.time) {}

  absl::Status Connect() {
    socket_ =
        UniqueFd(socket(url_.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_.valid()) return Failed();
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&url_.address),
                url_.address_bytes) == 0) {
      return absl::OkStatus();
    }
    if (errno != EINPROGRESS) return Failed();
    if (absl::Status status = WaitFor(POLLOUT); !status.ok()) return status;
    socklen_t size = sizeof(errno);
    int error = 0;
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return Failed();
    errno = error;
    return error == 0 ? absl::OkStatus() : Failed();
  }

  absl::Status Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (count >= 0) {
        text.remove_prefix(static_cast<size_t>(count));
        continue;
      }
      if (errno != EAGAIN && errno != EINTR) return Failed();
      if (absl::Status status = WaitFor(POLLOUT); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<HttpReply> Receive() {
    std::string bytes;
    std::array<char, 16384> piece;
    while (true) {
      const ssize_t count = recv(socket_.get(), piece.data(), piece.size(), 0);
      if (count == 0) break;
      if (count < 0 && errno != EAGAIN && errno != EINTR) return Failed();
      if (count < 0) {
        if (absl::Status status = WaitFor(POLLIN); !status.ok()) return status;
        continue;
      }
      bytes.append(piece.data(), static_cast<size_t>(count));
      if (bytes.size() > limits_.reply_bytes) {
        return absl::ResourceExhaustedError(
            absl::StrCat(url_.Text(), " answers with more than ", limits_.reply_bytes, " bytes"));
      }
    }
    std::optional<HttpReply> reply = ReadReply(bytes);
    if (!reply.has_value()) {
      return absl::DataLossError(absl::StrCat(url_.Text(), " gives no whole answer of HTTP"));
    }
    return *std::move(reply);
  }

 private:
  absl::Status WaitFor(short events) {
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
    std::array<pollfd, 2> watched = {pollfd{socket_.get(), events, 0},
                                     pollfd{stop_.fd(), POLLIN, 0}};
    const int count =
        poll(watched.data(), watched.size(), static_cast<int>(std::max<int64_t>(0, left.count())));
    if (count < 0 && errno != EINTR) return Failed();
    if (watched[1].revents != 0) return absl::CancelledError("nobody waits for it any more");
    if (Clock::now() >= deadline_) {
      return absl::DeadlineExceededError(
          absl::StrCat(url_.Text(), " did not answer within ", limits_.time.count(), " ms"));
    }
    return absl::OkStatus();
  }

  absl::Status Failed() const {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot ask ", url_.Text()));
  }

  const HttpUrl& url_;
  const HttpLimits& limits_;
  const StopSignal& stop_;
  Clock::time_point deadline_;
  UniqueFd socket_;
};

}  // namespace

absl::StatusOr<HttpReply> Ask(const HttpUrl& url, const HttpRequestParts& request,
                              const HttpLimits& limits, const StopSignal& stop) {
  Exchange exchange(url, limits, stop);
  if (absl::Status status = exchange.Connect(); !status.ok()) return status;
  if (absl::Status status = exchange.Send(HeadOf(url, request)); !status.ok()) return status;
  if (absl::Status status = exchange.Send(request.body); !status.ok()) return status;
  return exchange.Receive();
}

}  // namespace utlz
