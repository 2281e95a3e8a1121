// The tool's and the agent's ends of a door, both in this process.
#include "tools/attach/agent_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <thread>

#include "inject/door.h"
#include "tools/attach/proc_file.h"

namespace utlz::attach {
namespace {

using inject::Door;
using inject::OwnDescriptor;
using inject::SendAnswer;
using inject::Visit;

constexpr std::chrono::milliseconds kPatience(20'000);

TEST(AgentSockets, AreFoundByTheProcessesOwnNumber) {
  const std::string list =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0005 01    77 @utlz-parked-12-00ff\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 54321 @utlz-door-12-abcd\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 54322 @utlz-door-123-abcd\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 54323 /run/utlz-door-12-abcd\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 54324\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 x @utlz-door-12-abcd\n";
  const std::vector<AgentSocket> sockets = FindAgentSockets(list, 12);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_TRUE(sockets[0].is_listener);
  EXPECT_EQ(sockets[0].name, "utlz-parked-12-00ff");
  EXPECT_EQ(sockets[0].inode, 77u);
  EXPECT_FALSE(sockets[1].is_listener);
  EXPECT_EQ(sockets[1].inode, 54321u);
  EXPECT_TRUE(FindAgentSockets("", 12).empty());
}

class DoorTest : public testing::TestWithParam<bool> {
 protected:
  // An agent that answers `answers` visits, each with its number, and the tools that come
  // meanwhile.
  std::thread Serve(int visits) {
    door_.Open({}, GetParam());
    return std::thread([this, visits] {
      for (int i = 1; i <= visits; ++i) {
        Visit visit;
        if (!door_.Await(&visit)) return;
        SendAnswer(visit, ControlState::kTracing,
                   {.reason = static_cast<AgentReason>(i),
                    .detail = Brought(visit),
                    .named_cupti = NamedCupti::kTooOld});
        while (door_.Attend(visit, 10'000'000)) continue;
        visit.Close();
      }
      door_.CloseInChild();
    });
  }

  // A digit for each descriptor: whether it is there, and the right one.
  static uint32_t Brought(const Visit& visit) {
    const auto digit = [](const OwnDescriptor& own, const char* name) -> uint32_t {
      const auto link = ReadLink("/proc/self/fd/" + std::to_string(own.Get()));
      return own.Get() < 0 ? 0 : link == name ? 1 : 9;
    };
    return 100 * digit(visit.collector, "/dev/null") + 10 * digit(visit.named_cupti, "/dev/zero") +
           digit(visit.cupti, "/dev/full");
  }

  static UniqueFd Connect() {
    auto connection = ConnectToAgent(getpid());
    EXPECT_TRUE(connection.ok()) << connection.status();
    return connection.ok() ? *std::move(connection) : UniqueFd();
  }

  static ControlAnswer Ask(const UniqueFd& connection, const CuptiOffer& cupti = {}) {
    const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(AskToTrace(connection, file.get(), cupti).ok());
    const auto answer = ReceiveAnswer(connection, kPatience);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.value_or(ControlAnswer{});
  }

  Door door_;
};

TEST_P(DoorTest, ServesOneToolAfterTheOther) {
  std::thread agent = Serve(3);
  for (uint32_t visit = 1; visit <= 3; ++visit) {
    const ControlAnswer answer = Ask(Connect());
    EXPECT_EQ(answer.state, static_cast<uint32_t>(ControlState::kTracing));
    EXPECT_EQ(answer.reason, visit);
  }
  agent.join();
}

TEST_P(DoorTest, KnowsALibcuptiThatWasNamedFromOneOfLastResort) {
  const UniqueFd named(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const UniqueFd last_resort(open("/dev/full", O_RDONLY | O_CLOEXEC));
  std::thread agent = Serve(4);
  EXPECT_EQ(Ask(Connect()).reason_detail, 100u);
  EXPECT_EQ(Ask(Connect(), {.last_resort = last_resort.get()}).reason_detail, 101u);
  EXPECT_EQ(Ask(Connect(), {.named = named.get()}).reason_detail, 110u);
  const ControlAnswer answer =
      Ask(Connect(), {.named = named.get(), .last_resort = last_resort.get()});
  EXPECT_EQ(answer.reason_detail, 111u);
  EXPECT_EQ(answer.named_cupti, static_cast<uint32_t>(NamedCupti::kTooOld));
  agent.join();
}

TEST_P(DoorTest, IsBusyWhileItServes) {
  std::thread agent = Serve(1);
  {
    const UniqueFd first = Connect();
    EXPECT_EQ(Ask(first).state, static_cast<uint32_t>(ControlState::kTracing));
    EXPECT_EQ(Ask(Connect()).state, static_cast<uint32_t>(ControlState::kBusy));
  }
  agent.join();
}

TEST_P(DoorTest, HangsUpOnNonsense) {
  std::thread agent = Serve(1);
  const UniqueFd nonsense = Connect();
  ASSERT_EQ(send(nonsense.get(), "hello", 5, MSG_NOSIGNAL), 5);
  EXPECT_EQ(ReceiveAnswer(nonsense, kPatience).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Ask(Connect()).state, static_cast<uint32_t>(ControlState::kTracing));
  agent.join();
}

TEST_P(DoorTest, SilentToolsDoNotKeepOthersOut) {
  std::thread agent = Serve(1);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(Connect());
  EXPECT_EQ(Ask(Connect()).state, static_cast<uint32_t>(ControlState::kTracing));
  agent.join();
}

// What `user`, who connects to the parked agent of this process, reads: 0 where it hangs up. Ends a
// child, which may do little after fork.
[[noreturn]] void ListenAs(uid_t user, const sockaddr_un& address, socklen_t size) {
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  const timeval patience = {20, 0};  // an agent that waits for a request says nothing at all
  char byte = 0;
  if (syscall(SYS_setresuid, user, user, user) != 0 ||
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
      connect(connection, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    _exit(2);
  }
  _exit(recv(connection, &byte, sizeof(byte), 0) == 0 ? 0 : 1);
}

TEST(ParkedAgentTest, HangsUpOnOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Door door;
  door.Open({}, true);
  const auto list = ReadSmallFile("/proc/self/net/unix", 64 << 20);
  ASSERT_TRUE(list.ok());
  std::string name;
  for (const AgentSocket& found : FindAgentSockets(*list, getpid())) {
    if (found.is_listener) name = found.name;
  }
  ASSERT_FALSE(name.empty());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  std::thread agent([&door] {
    Visit visit;
    if (door.Await(&visit)) visit.Close();
    door.CloseInChild();
  });
  const pid_t stranger = fork();
  if (stranger == 0) ListenAs(65534, address, size);
  int status = 0;
  ASSERT_EQ(waitpid(stranger, &status, 0), stranger);
  EXPECT_EQ(status, 0);
  // Root's own request ends it.
  const auto connection = ConnectToAgent(getpid());
  ASSERT_TRUE(connection.ok()) << connection.status();
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(AskToTrace(*connection, file.get(), {}).ok());
  agent.join();
}

INSTANTIATE_TEST_SUITE_P(Ways, DoorTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Listener" : "Door"; });

TEST(OwnDescriptorTest, IsLeftAloneOnceTheNumberMeansAnotherFile) {
  OwnDescriptor own = OwnDescriptor::Adopt(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = own.Get();
  ASSERT_GE(number, 128);
  const UniqueFd other(memfd_create("other", MFD_CLOEXEC));
  ASSERT_EQ(dup2(other.get(), number), number);
  EXPECT_EQ(own.Get(), -1);
  own.Close();
  EXPECT_EQ(close(number), 0) << "it was closed although it is another file";
}

}  // namespace
}  // namespace utlz::attach
