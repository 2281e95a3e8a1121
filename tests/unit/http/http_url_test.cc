#include "tools/http/http_url.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(HttpUrl, AddressesPortsAndPaths) {
  const auto url = ParseHttpUrl("http://127.0.0.1:8000/metrics?all=1");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "127.0.0.1:8000");
  EXPECT_EQ(url->path, "/metrics?all=1");
  EXPECT_TRUE(url->is_loopback);
  EXPECT_EQ(ParseHttpUrl("http://127.0.0.1")->path, "/");
  EXPECT_TRUE(ParseHttpUrl("http://localhost:4318")->is_loopback);
  EXPECT_TRUE(ParseHttpUrl("http://[::1]:4318/x")->is_loopback);
  EXPECT_TRUE(ParseHttpUrl("http://[::1]")->is_loopback);
  EXPECT_FALSE(ParseHttpUrl("http://10.1.2.3:4318")->is_loopback);
}

TEST(HttpUrl, RefusesWhatItWouldHaveToGuess) {
  for (const char* text :
       {"", "127.0.0.1:8000", "https://127.0.0.1", "http://", "http:///metrics",
        "http://collector.example:4318", "http://127.0.0.1:", "http://127.0.0.1:99999",
        "http://127.0.0.1:80x", "http://::1:80", "http://[::1", "http://[127.0.0.1]:80",
        "http://user@127.0.0.1", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseHttpUrl(text).status())) << text;
  }
  EXPECT_FALSE(ParseHttpUrl("http://127.0.0.1/" + std::string(4096, 'a')).ok());
}

}  // namespace
}  // namespace utlz
