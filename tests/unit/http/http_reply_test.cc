#include "tools/http/http_reply.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(HttpReply, StatusAndBody) {
  const auto reply = ReadReply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "he");
  EXPECT_EQ(ReadReply("HTTP/1.0 503 No\r\nX: y\r\n\r\nall of it")->body, "all of it");
  EXPECT_EQ(ReadReply("HTTP/1.0 204\n\n")->status, 204) << "bare line feeds";
}

TEST(HttpReply, RefusesTheRest) {
  for (const char* text :
       {"", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n",
        "HTTP/1.1 99 OK\r\n\r\n", "HTTP/1.1 2000\r\n", "FTP 200 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"}) {
    EXPECT_FALSE(ReadReply(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace utlz
