#include "tools/exporter/http_request.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

RequestState StateOf(const std::string& bytes) {
  HttpRequest request;
  return ReadRequest(bytes, &request);
}

TEST(HttpRequest, ReadsWhatItNeeds) {
  HttpRequest request;
  EXPECT_EQ(ReadRequest("GET /metrics?a=b HTTP/1.1\r\nHost: x:1\r\naCCept: text/plain \r\n"
                        "Accept:\t*/*\r\nAccept-Encoding: gzip\r\n\r\nmore",
                        &request),
            RequestState::kComplete);
  EXPECT_EQ(request.method, RequestMethod::kGet);
  EXPECT_EQ(request.path, "/metrics");
  EXPECT_EQ(request.accept, "text/plain,*/*");
}

TEST(HttpRequest, Methods) {
  HttpRequest request;
  EXPECT_EQ(ReadRequest("HEAD / HTTP/1.0\r\n\r\n", &request), RequestState::kComplete);
  EXPECT_EQ(request.method, RequestMethod::kHead);
  EXPECT_EQ(ReadRequest("POST /metrics HTTP/1.1\r\n\r\n", &request), RequestState::kComplete);
  EXPECT_EQ(request.method, RequestMethod::kOther);
}

TEST(HttpRequest, Incomplete) {
  const std::string whole = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(StateOf(whole.substr(0, size)), RequestState::kIncomplete) << size;
  }
  EXPECT_EQ(StateOf(whole), RequestState::kComplete);
}

TEST(HttpRequest, Malformed) {
  for (const char* bytes :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n", "GET  HTTP/1.1\r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n", "GET metrics HTTP/1.1\r\n\r\n", "GET / HTTP/2\r\n\r\n",
        " / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno header\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET /\x01 HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nAccept: a\nb\r\n\r\n"}) {
    EXPECT_EQ(StateOf(bytes), RequestState::kMalformed) << bytes;
  }
}

TEST(HttpRequest, TooLong) {
  EXPECT_EQ(StateOf(std::string(kMaxRequestBytes - 1, 'x')), RequestState::kIncomplete);
  EXPECT_EQ(StateOf(std::string(kMaxRequestBytes, 'x')), RequestState::kTooLong);
  EXPECT_EQ(StateOf("GET / HTTP/1.1\r\nA: " + std::string(kMaxRequestBytes, 'x') + "\r\n\r\n"),
            RequestState::kTooLong);
}

}  // namespace
}  // namespace utlz
