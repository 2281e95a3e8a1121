#include "collector/ingest/agent_listener.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "tests/support/descriptor_limit.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_agent.h"
#include "tests/support/test_ring.h"

namespace utlz {
namespace {

using Clock = AgentListener::Clock;

class AgentListenerTest : public ::testing::Test {
 protected:
  AgentListenerTest() : listener_(AgentListener::Listen(path())) {
    EXPECT_TRUE(listener_.ok()) << listener_.status();
  }

  std::string path() const { return folder_.File("agents"); }

  // As often as it takes for every packet that is under way to be seen.
  void Poll(Clock::time_point now = Clock::now()) {
    for (int i = 0; i < 3; ++i) {
      listener_->Poll(
          now, [this](AgentHandshake handshake) { handshakes_.push_back(std::move(handshake)); });
    }
  }

  int OpenDescriptors() const {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return static_cast<int>(std::distance(begin(open), end(open)));
  }

  TemporaryFolder folder_;
  TestRing ring_;
  absl::StatusOr<AgentListener> listener_;
  std::vector<AgentHandshake> handshakes_;
};

TEST_F(AgentListenerTest, HandsAHelloOnAndItsWelcomeBack) {
  const UniqueFd agent = ConnectTo(path());
  ASSERT_TRUE(SendHello(agent.get(), ring_.bytes(), ring_.fd()));
  Poll();
  ASSERT_EQ(handshakes_.size(), 1u);
  EXPECT_EQ(handshakes_[0].hello.ring_bytes, ring_.bytes());
  EXPECT_EQ(handshakes_[0].pid, getpid());
  EXPECT_TRUE(handshakes_[0].pidfd.valid());
  struct stat sent = {};
  struct stat received = {};
  ASSERT_EQ(fstat(ring_.fd(), &sent), 0);
  ASSERT_EQ(fstat(handshakes_[0].ring.get(), &received), 0);
  EXPECT_EQ(received.st_ino, sent.st_ino);

  AgentWelcome welcome = {};
  welcome.flush_period_ms = 77;
  EXPECT_TRUE(SendWelcome(handshakes_[0], welcome));
  const std::optional<AgentWelcome> answer = ReceiveWelcome(agent.get());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->flush_period_ms, 77u);
  EXPECT_EQ(listener_->refused(), 0u);
}

TEST_F(AgentListenerTest, CountsWhoGaveUpBeforeTheHelloWasRead) {
  {
    const UniqueFd agent = ConnectTo(path());
    ASSERT_TRUE(SendHello(agent.get(), ring_.bytes(), ring_.fd()));
  }
  Poll();
  EXPECT_TRUE(handshakes_.empty());
  EXPECT_EQ(listener_->unanswered(), 1u);
  EXPECT_EQ(listener_->refused(), 0u);
}

TEST_F(AgentListenerTest, IsReadableWhenSomebodyConnects) {
  pollfd entry = {listener_->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0);
  const UniqueFd agent = ConnectTo(path());
  EXPECT_EQ(poll(&entry, 1, 0), 1);
}

TEST_F(AgentListenerTest, OnlyItsOwnerCanReachTheSocket) {
  struct stat status = {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(AgentListenerTest, ShutsOutWhoeverDoesNotSpeakTheProtocol) {
  const int before = OpenDescriptors();
  const AgentHello hello = MakeHello(ring_.bytes());
  AgentHello other_magic = hello;
  other_magic.magic ^= 1;
  const char longer[100] = {};
  const struct {
    const void* bytes;
    size_t size;
    std::vector<int> descriptors;
  } packets[] = {
      {&hello, sizeof(hello), {}},
      {&hello, sizeof(hello), {ring_.fd(), ring_.fd()}},
      {&hello, sizeof(hello), std::vector<int>(20, ring_.fd())},
      {&hello, sizeof(hello) - 1, {ring_.fd()}},
      {longer, sizeof(longer), {ring_.fd()}},
      {&other_magic, sizeof(other_magic), {ring_.fd()}},
  };
  uint64_t refused = 0;
  for (const auto& packet : packets) {
    const UniqueFd agent = ConnectTo(path());
    ASSERT_TRUE(SendPacket(agent.get(), packet.bytes, packet.size, packet.descriptors));
    Poll();
    EXPECT_TRUE(handshakes_.empty());
    EXPECT_EQ(listener_->refused(), ++refused);
    EXPECT_FALSE(ReceiveWelcome(agent.get()).has_value()) << "the connection must be closed";
  }
  EXPECT_EQ(OpenDescriptors(), before) << "descriptors that were sent must not pile up";
}

TEST_F(AgentListenerTest, SomebodyWhoHangsUpAtOnceIsForgotten) {
  ConnectTo(path()).Reset();
  Poll();
  EXPECT_TRUE(handshakes_.empty());
  EXPECT_EQ(listener_->refused(), 0u) << "one who only looks whether somebody listens";
}

TEST_F(AgentListenerTest, TheSilentAreDroppedAfterTheirDeadlineAndDelayNobody) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(ConnectTo(path()));
  const UniqueFd agent = ConnectTo(path());
  ASSERT_TRUE(SendHello(agent.get(), ring_.bytes(), ring_.fd()));
  const Clock::time_point now = Clock::now();
  Poll(now);
  EXPECT_EQ(listener_->refused(), 0u);
  pollfd entry = {listener_->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0) << "full: the queue must not keep waking us";
  Poll(now + std::chrono::seconds(3));
  Poll(now + std::chrono::seconds(6));
  EXPECT_EQ(listener_->refused(), 100u);
  EXPECT_EQ(handshakes_.size(), 1u);
}

TEST_F(AgentListenerTest, TheSilentGiveWayWhereOthersWait) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(ConnectTo(path()));
  const UniqueFd agent = ConnectTo(path());
  ASSERT_TRUE(SendHello(agent.get(), ring_.bytes(), ring_.fd()));
  Clock::time_point now = Clock::now();
  for (int i = 0; i < 8; ++i, now += std::chrono::milliseconds(100)) Poll(now);
  EXPECT_EQ(handshakes_.size(), 1u) << "long before their deadlines";
}

TEST_F(AgentListenerTest, WithoutDescriptorsItSleepsAndThenServes) {
  const UniqueFd agent = ConnectTo(path());
  ASSERT_TRUE(SendHello(agent.get(), ring_.bytes(), ring_.fd()));
  const Clock::time_point now = Clock::now();
  {
    const DescriptorLimit none(0);
    Poll(now);
  }
  pollfd entry = {listener_->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0) << "who waits must not keep waking us";
  EXPECT_TRUE(handshakes_.empty());
  Poll(now + std::chrono::seconds(1));
  EXPECT_EQ(handshakes_.size(), 1u);
}

TEST_F(AgentListenerTest, RefusesAPathThatDoesNotFitASocketAddress) {
  const absl::Status status = AgentListener::Listen(folder_.File(std::string(120, 'x'))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  // No variable that utlz reads makes such a path: it makes none in a parent of over 64 bytes.
  EXPECT_TRUE(absl::EndsWith(status.message(), "must have 1 to 107 bytes")) << status;
  EXPECT_FALSE(AgentListener::Listen(folder_.File("no/such")).ok());
}

TEST(AgentListener, TakesItsSocketAway) {
  const TemporaryFolder folder;
  const std::string path = folder.File("agents");
  {
    const absl::StatusOr<AgentListener> listener = AgentListener::Listen(path);
    ASSERT_TRUE(listener.ok());
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(AgentListenerWithoutSocket, TakesInWhomItIsGiven) {
  absl::StatusOr<AgentListener> listener = AgentListener::WithoutSocket();
  ASSERT_TRUE(listener.ok()) << listener.status();
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd agent(ends[1]);
  listener->Adopt(UniqueFd(ends[0]), getppid(), Clock::now());
  TestRing ring;
  ASSERT_TRUE(SendHello(agent.get(), ring.bytes(), ring.fd()));
  std::vector<AgentHandshake> handshakes;
  listener->Poll(Clock::now(),
                 [&](AgentHandshake handshake) { handshakes.push_back(std::move(handshake)); });
  ASSERT_EQ(handshakes.size(), 1u);
  EXPECT_EQ(handshakes[0].pid, getppid()) << "not the process that made the socket pair";
}

}  // namespace
}  // namespace utlz
