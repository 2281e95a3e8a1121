// The tool's and the agent's ends of a socket pair, both in this process.
#include "tools/attach/agent_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <thread>

#include "inject/control_socket.h"
#include "tests/support/descriptor_limit.h"
#include "tests/support/sanitizers.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

using agent::Attachment;
using agent::ControlSocket;
using agent::kUnknownUser;
using agent::OwnDescriptor;
using agent::SendAnswer;

constexpr std::chrono::milliseconds kPatience(20'000);

TEST(AgentSockets, AreFoundByTheProcessesOwnNumber) {
  const std::string list =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0005 01    77 @utlz-preloaded-12-00ff\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 54321 @utlz-control-12-abcd\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 54322 @utlz-control-123-abcd\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 54323 /run/utlz-control-12-abcd\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 54324\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 x @utlz-control-12-abcd\n";
  const std::vector<AgentSocket> sockets = FindAgentSockets(list, 12);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_TRUE(sockets[0].is_listener);
  EXPECT_EQ(sockets[0].name, "utlz-preloaded-12-00ff");
  EXPECT_EQ(sockets[0].inode, 77u);
  EXPECT_FALSE(sockets[1].is_listener);
  EXPECT_EQ(sockets[1].inode, 54321u);
  EXPECT_TRUE(FindAgentSockets("", 12).empty());
}

// A connection through the listener of the agent of this process, as any program may make one.
struct ListenerAddress {
  sockaddr_un address = {};
  socklen_t size = 0;
};

ListenerAddress FindListener() {
  const auto list = ReadSmallFile("/proc/self/net/unix", 64 << 20);
  ListenerAddress found;
  found.address.sun_family = AF_UNIX;
  if (!list.ok()) return found;
  for (const AgentSocket& socket : FindAgentSockets(*list, getpid())) {
    if (!socket.is_listener) continue;
    socket.name.copy(found.address.sun_path + 1, sizeof(found.address.sun_path) - 1);
    found.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + socket.name.size());
  }
  return found;
}

UniqueFd ConnectByListener() {
  const ListenerAddress listener = FindListener();
  UniqueFd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(connection.get(), reinterpret_cast<const sockaddr*>(&listener.address),
                    listener.size),
            0);
  return connection;
}

class ControlSocketTest : public testing::TestWithParam<bool> {
 protected:
  // An agent that answers `answers` attachments, each with its number, and the tools that come
  // meanwhile.
  std::thread Serve(int attachments) {
    control_socket_.Open({}, GetParam());
    return std::thread([this, attachments] {
      for (int i = 1; i <= attachments; ++i) {
        Attachment attachment;
        if (!control_socket_.WaitForAttachment(&attachment)) return;
        SendAnswer(attachment, ControlState::kTracing,
                   {.reason = static_cast<AgentReason>(i),
                    .detail = Brought(attachment),
                    .named_cupti = NamedCupti::kTooOld});
        while (control_socket_.StaysConnected(attachment, 10'000'000)) continue;
        attachment.Close();
      }
      control_socket_.CloseInChild();
    });
  }

  // A digit for each descriptor: whether it is there, and the right one.
  static uint32_t Brought(const Attachment& attachment) {
    const auto digit = [](const OwnDescriptor& own, const char* name) -> uint32_t {
      const auto link = ReadLink("/proc/self/fd/" + std::to_string(own.Get()));
      return own.Get() < 0 ? 0 : link == name ? 1 : 9;
    };
    return 100 * digit(attachment.collector, "/dev/null") +
           10 * digit(attachment.named_cupti, "/dev/zero") + digit(attachment.cupti, "/dev/full");
  }

  static UniqueFd Connect() {
    if (GetParam()) return ConnectByListener();
    auto connection = ConnectToAgent(getpid(), /*with_library=*/true);
    EXPECT_TRUE(connection.ok()) << connection.status();
    if (!connection.ok()) return UniqueFd();
    EXPECT_TRUE(connection->takes_libraries);
    return std::move(connection->socket);
  }

  static ControlAnswer Ask(const UniqueFd& connection, const CuptiOffer& cupti = {}) {
    const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(AskToTrace(connection, file.get(), cupti).ok());
    const auto answer = ReceiveAnswer(connection, kPatience);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.value_or(ControlAnswer{});
  }

  ControlSocket control_socket_;
};

TEST_P(ControlSocketTest, ServesOneToolAfterTheOther) {
  std::thread agent = Serve(3);
  for (uint32_t attachment = 1; attachment <= 3; ++attachment) {
    const ControlAnswer answer = Ask(Connect());
    EXPECT_EQ(answer.state, static_cast<uint32_t>(ControlState::kTracing));
    EXPECT_EQ(answer.reason, attachment);
  }
  agent.join();
}

// Who loads a library into a process runs code in it.
TEST_P(ControlSocketTest, TakesLibrariesFromThoseAloneWhoMayTraceTheProcess) {
  const UniqueFd named(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const UniqueFd last_resort(open("/dev/full", O_RDONLY | O_CLOEXEC));
  const bool over_listener = GetParam();
  std::thread agent = Serve(over_listener ? 2 : 4);
  EXPECT_EQ(Ask(Connect()).reason_detail, 100u);
  const ControlAnswer with_named = Ask(Connect(), {.named = named.get()});
  const ControlAnswer with_both =
      Ask(Connect(), {.named = named.get(), .last_resort = last_resort.get()});
  const ControlAnswer with_last = Ask(Connect(), {.last_resort = last_resort.get()});
  if (over_listener) {
    for (const ControlAnswer& answer : {with_named, with_both}) {
      EXPECT_EQ(answer.state, static_cast<uint32_t>(ControlState::kRefused));
      EXPECT_EQ(answer.reason, static_cast<uint32_t>(AgentReason::kLibraryNotTaken));
    }
    EXPECT_EQ(with_last.reason_detail, 100u) << "dropped: the agent looks for one itself";
  } else {
    EXPECT_EQ(with_named.reason_detail, 110u);
    EXPECT_EQ(with_both.reason_detail, 111u);
    EXPECT_EQ(with_both.named_cupti, static_cast<uint32_t>(NamedCupti::kTooOld));
    EXPECT_EQ(with_last.reason_detail, 101u);
  }
  agent.join();
}

TEST_P(ControlSocketTest, RefusesARequestOfAnotherRelease) {
  std::thread agent = Serve(1);
  struct {
    ControlRequest known;
    char more[8];
  } request = {};
  request.known.magic = kControlMagic;
  request.known.version = kControlVersion + 1;
  for (const size_t size : {sizeof(ControlRequest), sizeof(request), size_t{16}}) {
    const UniqueFd connection = Connect();
    ASSERT_EQ(send(connection.get(), &request, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
    const auto answer = ReceiveAnswer(connection, kPatience);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->state, static_cast<uint32_t>(ControlState::kRefused));
    EXPECT_EQ(answer->reason, static_cast<uint32_t>(AgentReason::kOtherRelease));
  }
  EXPECT_EQ(Ask(Connect()).state, static_cast<uint32_t>(ControlState::kTracing));
  agent.join();
}

TEST_P(ControlSocketTest, IsBusyWhileItServes) {
  std::thread agent = Serve(1);
  {
    const UniqueFd first = Connect();
    EXPECT_EQ(Ask(first).state, static_cast<uint32_t>(ControlState::kTracing));
    EXPECT_EQ(Ask(Connect()).state, static_cast<uint32_t>(ControlState::kBusy));
  }
  agent.join();
}

TEST_P(ControlSocketTest, HangsUpOnNonsense) {
  std::thread agent = Serve(1);
  const UniqueFd nonsense = Connect();
  ASSERT_EQ(send(nonsense.get(), "hello", 5, MSG_NOSIGNAL), 5);
  EXPECT_EQ(ReceiveAnswer(nonsense, kPatience).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Ask(Connect()).state, static_cast<uint32_t>(ControlState::kTracing));
  agent.join();
}

TEST_P(ControlSocketTest, SilentToolsDoNotKeepOthersOut) {
  std::thread agent = Serve(1);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(Connect());
  EXPECT_EQ(Ask(Connect()).state, static_cast<uint32_t>(ControlState::kTracing));
  agent.join();
}

// What `user`, who connects to the preloaded agent of this process so many times, reads: 0 where it
// hangs up each time. Ends a child, which may do little after fork.
[[noreturn]] void ListenAs(uid_t user, const ListenerAddress& listener, uint32_t times) {
  const timeval patience = {20, 0};  // an agent that waits for a request says nothing at all
  if (syscall(SYS_setresuid, user, user, user) != 0) _exit(2);
  for (; times > 0; --times) {
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    char byte = 0;
    if (setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
        connect(connection, reinterpret_cast<const sockaddr*>(&listener.address), listener.size) !=
            0) {
      _exit(2);
    }
    if (recv(connection, &byte, sizeof(byte), 0) != 0) _exit(1);
  }
  _exit(0);
}

class PreloadedAgentTest : public testing::Test {
 protected:
  // An agent that waits at a listener, until a request is taken.
  void Park() {
    control_socket_.Open({}, true);
    listener_ = FindListener();
    ASSERT_GT(listener_.size, 0u);
    agent_ = std::thread([this] {
      Attachment attachment;
      if (control_socket_.WaitForAttachment(&attachment)) attachment.Close();
      control_socket_.CloseInChild();
    });
  }

  // What a child as `user` is told.
  int ToldTo(uid_t user, uint32_t times = 1) const {
    const pid_t stranger = fork();
    if (stranger == 0) ListenAs(user, listener_, times);
    int status = 0;
    EXPECT_EQ(waitpid(stranger, &status, 0), stranger);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Root's own request, through the socket pair, ends it.
  void End() {
    const auto connection = ConnectToAgent(getpid(), /*with_library=*/false);
    ASSERT_TRUE(connection.ok()) << connection.status();
    const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(AskToTrace(connection->socket, file.get(), {}).ok());
    agent_.join();
  }

  ControlSocket control_socket_;
  ListenerAddress listener_;
  std::thread agent_;
};

constexpr uid_t kSomebody = 1001;

TEST_F(PreloadedAgentTest, HangsUpOnOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Park();
  EXPECT_EQ(ToldTo(kSomebody), 0);
  End();
}

// A service of root's works as somebody else for a while: that one must not gain root's rights.
TEST_F(PreloadedAgentTest, TrustsNobodyWhileTheProcessHasAnotherUserThanAtItsStart) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Park();
  for (const uid_t user : {kSomebody, kUnknownUser}) {
    ASSERT_EQ(seteuid(user), 0);
    EXPECT_EQ(ToldTo(user), 0) << "that user is a stranger";
    ASSERT_EQ(seteuid(0), 0);
  }
  // PR_SET_DUMPABLE went with the user.
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
  End();
}

TEST_F(PreloadedAgentTest, ServesNobodyWhileTheProcessMustNotBeTraced) {
  if (geteuid() != 0) GTEST_SKIP() << "comes in through the socket pair at the end, as root may";
  Park();
  const UniqueFd before = ConnectByListener();
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
  const UniqueFd after = ConnectByListener();
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const UniqueFd* connection : {&before, &after}) {
    AskToTrace(*connection, file.get(), {}).IgnoreError();
    const auto answer = ReceiveAnswer(*connection, kPatience);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->state, static_cast<uint32_t>(ControlState::kRefused));
    EXPECT_EQ(answer->reason, static_cast<uint32_t>(AgentReason::kUserChanged));
  }
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
  End();
}

uint64_t ThreadCpuNs(clockid_t clock) {
  timespec used = {};
  clock_gettime(clock, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

rlim_t LowestFreeDescriptor() {
  const UniqueFd lowest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return static_cast<rlim_t>(lowest.get());
}

// None to accept with, and a limit below those that are polled, where poll() fails.
TEST_F(PreloadedAgentTest, SleepsWhileThereIsNoDescriptor) {
  if (geteuid() != 0) GTEST_SKIP() << "comes in through the socket pair at the end, as root may";
  if (kAddressSanitizer) {
    GTEST_SKIP() << "UBSan takes an object's type for wrong where it can open no pipe";
  }
  Park();
  clockid_t clock = 0;
  ASSERT_EQ(pthread_getcpuclockid(agent_.native_handle(), &clock), 0);
  const UniqueFd waiting(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  for (const rlim_t limit : {LowestFreeDescriptor(), rlim_t{0}}) {
    const uint64_t before_ns = ThreadCpuNs(clock);
    const DescriptorLimit none(limit);
    connect(waiting.get(), reinterpret_cast<const sockaddr*>(&listener_.address), listener_.size);
    // Half a second by this thread's own clock, which runs only while it works.
    const uint64_t begin_ns = ThreadCpuNs(CLOCK_THREAD_CPUTIME_ID);
    while (ThreadCpuNs(CLOCK_THREAD_CPUTIME_ID) < begin_ns + 500'000'000) continue;
    EXPECT_LT(ThreadCpuNs(clock) - before_ns, 50'000'000u) << "it tries again and again: " << limit;
  }
  End();
}

TEST_F(PreloadedAgentTest, StrangersCostItSixteenLooksASecond) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Park();
  EXPECT_EQ(ToldTo(kSomebody, ListenerPace::kMostRefusals), 0);
  const UniqueFd seventeenth = ConnectByListener();
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  pollfd answer = {seventeenth.get(), POLLIN, 0};
  ASSERT_TRUE(AskToTrace(seventeenth, file.get(), {}).ok());
  EXPECT_EQ(poll(&answer, 1, 100), 0) << "it is not looked at before the second is over";
  EXPECT_EQ(poll(&answer, 1, 20'000), 1);
  agent_.join();
}

INSTANTIATE_TEST_SUITE_P(Ways, ControlSocketTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Listener" : "ControlSocket"; });

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
