// The agent's end of the handshake, with a collector that is or is not the one that it was told of.
#include "inject/handshake.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace utlz::agent {
namespace {

constexpr uid_t kSomebody = 1001;
constexpr RunToken kToken = {{1, 2, 3}, {4, 5, 6}};

class HandshakeTest : public testing::Test {
 protected:
  HandshakeTest() {
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path_.c_str());
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
  }
  ~HandshakeTest() override { close(listener_); }

  // Answers one agent with this half of a token. Returns what came, of zero bytes if nothing did.
  AgentHello Answer(const uint8_t (&half)[kTokenHalfBytes]) const {
    AgentHello hello{};
    const int connection = accept(listener_, nullptr, nullptr);
    if (recv(connection, &hello, sizeof hello, 0) == static_cast<ssize_t>(sizeof hello)) {
      AgentWelcome welcome{};
      welcome.magic = kHandshakeMagic;
      welcome.abi_version = kAgentAbiVersion;
      welcome.accepted = 1;
      memcpy(welcome.token, half, sizeof half);
      send(connection, &welcome, sizeof welcome, MSG_NOSIGNAL);
    }
    close(connection);
    return hello;
  }

  bool Meet(const RunToken* token) const {
    const int ring = memfd_create("ring", MFD_CLOEXEC);
    AgentWelcome welcome{};
    const bool met = MeetCollector(path_.c_str(), token, {ring, 4096}, &welcome);
    close(ring);
    return met;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.File("agents");
  int listener_ = -1;
};

TEST_F(HandshakeTest, TheCollectorOfTheRunIsMet) {
  AgentHello hello{};
  std::thread collector([&] { hello = Answer(kToken.collectors); });
  EXPECT_TRUE(Meet(&kToken));
  collector.join();
  EXPECT_TRUE(IsSameHalf(hello.token, kToken.agents));
}

TEST_F(HandshakeTest, OneThatDoesNotKnowTheOtherHalfOfTheTokenIsNot) {
  uint8_t nearly[kTokenHalfBytes];
  memcpy(nearly, kToken.collectors, sizeof nearly);
  nearly[15] ^= 1;
  std::thread collector([&] {
    Answer(kToken.agents);  // what it was shown
    Answer(nearly);
    Answer(kToken.collectors);
  });
  EXPECT_FALSE(Meet(&kToken));
  EXPECT_FALSE(Meet(&kToken));
  EXPECT_FALSE(Meet(nullptr)) << "a process without a token trusts nobody";
  collector.join();
}

// The folder of a run that is over may be made again by anybody.
TEST_F(HandshakeTest, NothingIsHandedToAnotherUsersListener) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t squatter = fork();
  if (squatter == 0) {
    // Who listens is whom the kernel shows.
    if (setuid(kSomebody) != 0 || listen(listener_, 1) != 0 || write(ready[1], "x", 1) != 1) {
      _exit(2);
    }
    _exit(Answer(kToken.collectors).magic == 0 ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(Meet(&kToken));
  int status = 0;
  ASSERT_EQ(waitpid(squatter, &status, 0), squatter);
  EXPECT_EQ(status, 0) << "it got a hello, and with it the ring";
  for (const int end : ready) close(end);
}

TEST(RunTokenTest, ItsTextIsReadBack) {
  char text[kTokenTextBytes];
  WriteToken(kToken, text);
  EXPECT_EQ(std::string(text).size(), 64u);
  RunToken read{};
  ASSERT_TRUE(ParseToken(text, &read));
  EXPECT_EQ(memcmp(&read, &kToken, sizeof read), 0);
  EXPECT_FALSE(ParseToken(nullptr, &read));
  for (const std::string& wrong : {std::string(), std::string(63, 'a'), std::string(65, 'a'),
                                   std::string(64, 'g'), "A" + std::string(63, 'a')}) {
    EXPECT_FALSE(ParseToken(wrong.c_str(), &read)) << wrong;
  }
}

}  // namespace
}  // namespace utlz::agent
