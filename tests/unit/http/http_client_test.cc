#include "tools/http/http_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "collector/unique_fd.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

// Listens on a free port of loopback. Answers one client as the test says, or never.
class Server {
 public:
  Server() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_.get(), 4);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = *ParseHttpUrl("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/page");
  }
  ~Server() {
    if (thread_.joinable()) thread_.join();
  }

  void AnswerOnce(std::string answer) {
    thread_ = std::thread([this, answer = std::move(answer)] {
      const UniqueFd client(accept(listener_.get(), nullptr, nullptr));
      char bytes[4096];
      while (request_.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = read(client.get(), bytes, sizeof(bytes));
        if (count <= 0) break;
        request_.append(bytes, static_cast<size_t>(count));
      }
      send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    });
  }
  void Close() { listener_ = UniqueFd(); }

  const HttpUrl& url() const { return url_; }
  const std::string& request() {
    thread_.join();
    return request_;
  }

 private:
  UniqueFd listener_;
  HttpUrl url_;
  std::string request_;
  std::thread thread_;
};

TEST(HttpClient, AsksAndReads) {
  Server server;
  server.AnswerOnce("HTTP/1.1 200 OK\r\n\r\npage");
  const StopSignal stop;
  const auto reply = Ask(server.url(), {.accept = "text/plain"}, {}, stop);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->body, "page");
  EXPECT_THAT(server.request(), HasSubstr("GET /page HTTP/1.0\r\nHost: 127.0.0.1:"));
}

TEST(HttpClient, DoesNotWaitForEver) {
  Server server;  // the kernel accepts, nobody answers
  const StopSignal stop;
  const auto reply = Ask(server.url(), {}, {.time = std::chrono::milliseconds(50)}, stop);
  EXPECT_TRUE(absl::IsDeadlineExceeded(reply.status())) << reply.status();
}

TEST(HttpClient, StopsAtOnce) {
  Server server;
  StopSignal stop;
  stop.Give();
  const auto reply = Ask(server.url(), {}, {.time = std::chrono::hours(1)}, stop);
  EXPECT_TRUE(absl::IsCancelled(reply.status())) << reply.status();
}

TEST(HttpClient, TakesNoMoreThanItsLimit) {
  Server server;
  server.AnswerOnce("HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x'));
  const StopSignal stop;
  const auto reply = Ask(server.url(), {}, {.reply_bytes = 1000}, stop);
  EXPECT_TRUE(absl::IsResourceExhausted(reply.status())) << reply.status();
}

TEST(HttpClient, NobodyListens) {
  Server server;
  server.Close();
  const StopSignal stop;
  EXPECT_FALSE(Ask(server.url(), {}, {}, stop).ok());
}

}  // namespace
}  // namespace utlz
