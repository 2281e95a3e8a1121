#include "tools/exporter/listening_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(ListeningSocket, APortAloneIsOfLoopback) {
  const auto socket = ListeningSocket::Open("0");
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_THAT(socket->place(), MatchesRegex("http://127\\.0\\.0\\.1:[1-9][0-9]*/metrics"));
  EXPECT_TRUE(socket->is_loopback());
}

TEST(ListeningSocket, OtherAddressesMustBeNamed) {
  const auto socket = ListeningSocket::Open("0.0.0.0:0");
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_FALSE(socket->is_loopback());
}

TEST(ListeningSocket, WhatIsNoPlace) {
  for (const char* place : {"", "x", "65536", "-1", "80x", "localhost:80", "127.0.0.1:", ":80",
                            "::1:80", "[::1]", "127.0.0.1:80:90", "unix:", "1.2.3:80"}) {
    const auto socket = ListeningSocket::Open(place);
    EXPECT_EQ(socket.status().code(), absl::StatusCode::kInvalidArgument) << place;
  }
  EXPECT_EQ(ListeningSocket::Open("unix:" + std::string(200, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ListeningSocket, PlaceThatIsTaken) {
  const auto first = ListeningSocket::Open("0");
  ASSERT_TRUE(first.ok());
  const std::string place = first->place().substr(7, first->place().rfind('/') - 7);
  const auto second = ListeningSocket::Open(place);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("--metrics"));
}

TEST(ListeningSocket, UnixSocketComesAndGoes) {
  const TemporaryFolder folder;
  const std::string path = std::string(folder.path()) + "/metrics";
  {
    const auto socket = ListeningSocket::Open("unix:" + path);
    ASSERT_TRUE(socket.ok()) << socket.status();
    EXPECT_EQ(socket->place(), "unix:" + path);
    struct stat file = {};
    ASSERT_EQ(lstat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0660u);
    EXPECT_EQ(ListeningSocket::Open("unix:" + path).status().code(),
              absl::StatusCode::kUnavailable);
    EXPECT_TRUE(std::filesystem::exists(path)) << "the first one's is still there";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ListeningSocket, TakesThePlaceOfAForsakenSocket) {
  const TemporaryFolder folder;
  const std::string path = std::string(folder.path()) + "/metrics";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  {
    const UniqueFd killed(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(killed.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  EXPECT_TRUE(ListeningSocket::Open("unix:" + path).ok());
}

TEST(ListeningSocket, LeavesFilesAlone) {
  const TemporaryFolder folder;
  const std::string path = std::string(folder.path()) + "/notes";
  std::ofstream(path) << "mine";
  EXPECT_FALSE(ListeningSocket::Open("unix:" + path).ok());
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
}

}  // namespace
}  // namespace utlz
