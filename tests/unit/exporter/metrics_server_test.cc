#include "tools/exporter/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tools/exporter/http_request.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A client of a server on a Unix socket. Its calls block, so that no test waits for a time.
class Client {
 public:
  explicit Client(const std::string& path) : socket_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    connected_ =
        connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

  bool connected() const { return connected_; }
  void Send(const std::string& bytes) {
    (void)!send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  std::string ReadToEnd() {
    std::string text;
    std::array<char, 65536> bytes;
    for (;;) {
      const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (count <= 0) return text;
      text.append(bytes.data(), static_cast<size_t>(count));
    }
  }
  std::string Ask(const std::string& request) {
    Send(request);
    return ReadToEnd();
  }

 private:
  UniqueFd socket_;
  bool connected_ = false;
};

class MetricsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto socket = ListeningSocket::Open("unix:" + path_);
    ASSERT_TRUE(socket.ok()) << socket.status();
    auto server = MetricsServer::Start(*std::move(socket), &board_);
    ASSERT_TRUE(server.ok());
    server_ = *std::move(server);
  }

  void Post(double hfu) {
    auto snapshot = std::make_shared<MetricsSnapshot>();
    snapshot->Add(Metric::kHfu, {}, hfu);
    board_.Post(std::move(snapshot));
  }

  std::string Get(const std::string& path = "/metrics", const std::string& headers = "") {
    return Client(path_).Ask("GET " + path + " HTTP/1.1\r\n" + headers + "\r\n");
  }

  const TemporaryFolder folder_;
  const std::string path_ = std::string(folder_.path()) + "/metrics";
  SnapshotBoard board_;
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, ShowsTheNewestSnapshot) {
  EXPECT_THAT(Get(), StartsWith("HTTP/1.1 200 OK\r\n")) << "before the first one too";
  Post(0.25);
  EXPECT_THAT(Get(), HasSubstr("\r\n\r\n# HELP utlz_hfu_ratio"));
  Post(0.5);
  const std::string answer = Get();
  EXPECT_THAT(answer, HasSubstr("utlz_hfu_ratio 0.5\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  const size_t body = answer.find("\r\n\r\n") + 4;
  EXPECT_THAT(answer,
              HasSubstr("Content-Length: " + std::to_string(answer.size() - body) + "\r\n"));
}

TEST_F(MetricsServerTest, OpenMetricsWhereItIsAskedFor) {
  Post(0.5);
  const std::string answer = Get("/metrics", "Accept: application/openmetrics-text\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0"));
  EXPECT_TRUE(answer.ends_with("# EOF\n"));
  EXPECT_THAT(Get(), HasSubstr("version=0.0.4")) << "each one gets what it asked for";
}

TEST_F(MetricsServerTest, OtherRequests) {
  EXPECT_THAT(Get("/"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(Get("/health"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(Get("/etc/passwd"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(Client(path_).Ask("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  const std::string head = Client(path_).Ask("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(MetricsServerTest, Rubbish) {
  EXPECT_THAT(Client(path_).Ask("rubbish\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Client(path_).Ask(std::string(kMaxRequestBytes, 'x')), StartsWith("HTTP/1.1 431 "));
  Client(path_).Send("GET /met");  // and gone
  Post(0.5);
  EXPECT_THAT(Get(), HasSubstr("utlz_hfu_ratio 0.5\n"));
}

// Each gives way to a later one, or ends by the server's patience; nobody is kept from a page.
TEST_F(MetricsServerTest, ThoseWhoSayNothingKeepNobodyOut) {
  Post(0.5);
  std::vector<Client> silent;
  for (size_t i = 0; i < MetricsServer::kMostConnections + 10; ++i) silent.emplace_back(path_);
  EXPECT_TRUE(silent.back().connected());
  EXPECT_THAT(Get(), HasSubstr("utlz_hfu_ratio 0.5\n"));
  EXPECT_EQ(silent.front().ReadToEnd(), "") << "the oldest one gave way";
}

TEST_F(MetricsServerTest, EndsBesideAReaderThatDoesNotRead) {
  auto snapshot = std::make_shared<MetricsSnapshot>();
  for (int i = 0; i < 50'000; ++i) {
    snapshot->Add(Metric::kHfu, {{"gpu", std::to_string(i)}}, 0.5);
  }
  board_.Post(std::move(snapshot));
  Client slow(path_);
  slow.Send("GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(Get("/health"), HasSubstr("ok\n")) << "others are served beside it";
  server_.reset();
  EXPECT_THAT(slow.ReadToEnd().size(), testing::Lt(50'000u * 20));
}

}  // namespace
}  // namespace utlz
