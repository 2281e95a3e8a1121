#include "collector/sampler/sharing/sampler_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "collector/clocks.h"
#include "tests/support/descriptor_limit.h"

namespace utlz {
namespace {

constexpr uid_t kAnn = 1000;
constexpr uid_t kBob = 1001;
constexpr uid_t kRoot = 0;
constexpr uid_t kUnknown = 65534;

std::string UniqueUuid() {
  std::string uuid = std::to_string(getpid()) + "+" + std::to_string(MonotonicNs());
  uuid.resize(16, '.');
  return uuid;
}

UniqueFd Accept(const UniqueFd& listener) {
  ListenerPace pace;
  return AcceptSubscriber(listener.get(), MonotonicNs(), &pace);
}

TEST(SamplerSocketTest, CountersAreForTheSameUserAndRoot) {
  EXPECT_TRUE(MayReadCounters(kAnn, kAnn, false));
  EXPECT_TRUE(MayReadCounters(kRoot, kAnn, false));
  EXPECT_FALSE(MayReadCounters(kBob, kAnn, false));
  EXPECT_FALSE(MayReadCounters(kBob, kAnn, true)) << "only root speaks for all";
  EXPECT_FALSE(MayReadCounters(kAnn, kRoot, false)) << "the driver keeps them for administrators";
  EXPECT_TRUE(MayReadCounters(kAnn, kRoot, true));
  EXPECT_FALSE(MayReadCounters(kUnknown, kUnknown, false)) << "who knows whether it is the same";
}

TEST(SamplerSocketTest, OnlyTheSameUsersSamplerAndRootsAreTrusted) {
  EXPECT_TRUE(IsTrustedPeer(kAnn, kAnn));
  EXPECT_TRUE(IsTrustedPeer(kRoot, kAnn));
  EXPECT_FALSE(IsTrustedPeer(kBob, kAnn));
  EXPECT_FALSE(IsTrustedPeer(kAnn, kRoot));
  EXPECT_FALSE(IsTrustedPeer(kUnknown, kUnknown));
}

TEST(SamplerSocketTest, OneListensAndOthersConnect) {
  const std::string uuid = UniqueUuid();
  EXPECT_TRUE(absl::IsUnavailable(ConnectToSampler(uuid).status()));
  absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_FALSE(ListenForSubscribers(uuid).ok());
  EXPECT_FALSE(Accept(*listener).valid());
  const absl::StatusOr<UniqueFd> connection = ConnectToSampler(uuid);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_TRUE(Accept(*listener).valid());
  listener->Reset();
  EXPECT_TRUE(absl::IsUnavailable(ConnectToSampler(uuid).status()));
}

// Runs `act` as a user of no importance; its exit status.
template <typename Act>
int AsAnotherUser(const Act& act) {
  const pid_t child = fork();
  if (child == 0) _exit(setuid(kBob) == 0 ? act() : 99);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SamplerSocketTest, OnesOwnIsFoundWithItsProcess) {
  const std::string uuid = UniqueUuid();
  EXPECT_FALSE(SamplerOf(uuid, geteuid()).has_value());
  const absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::optional<SamplerPeer> own = SamplerOf(uuid, geteuid());
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->pid, getpid());
  EXPECT_FALSE(SamplerOfAnotherUser(uuid).has_value()) << "it is nobody else's";
}

TEST(SamplerSocketTest, AnotherUsersIsNamedAsTheKernelKnowsIt) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  const std::string uuid = UniqueUuid();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  const pid_t other = fork();
  if (other == 0) {
    close(done[1]);
    const bool listens = setuid(kBob) == 0;
    const absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
    char byte;
    _exit(listens && listener.ok() && write(ready[1], "x", 1) == 1 && read(done[0], &byte, 1) == 0
              ? 0
              : 1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const std::optional<SamplerPeer> found = SamplerOfAnotherUser(uuid);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->user, kBob);
  EXPECT_EQ(found->pid, other);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(SamplerOfAnotherUser(uuid).has_value());
}

TEST(SamplerSocketTest, OfAnotherUserNobodyIsServedAndNothingTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  const std::string uuid = UniqueUuid();
  const absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
  ASSERT_TRUE(listener.ok()) << listener.status();
  // Root is trusted by all; whether it serves them is the driver's word, of which there is none.
  EXPECT_EQ(AsAnotherUser([&] { return ConnectToSampler(uuid).ok() ? 7 : 8; }), 7);
  EXPECT_FALSE(Accept(*listener).valid());
  // A name that another user has taken.
  const std::string squatted = UniqueUuid();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  const pid_t squatter = fork();
  if (squatter == 0) {
    close(done[1]);
    const absl::StatusOr<UniqueFd> name = ListenForSubscribers(squatted);
    // The name is root's; who listens on it is not.
    const bool good = name.ok() && setuid(kBob) == 0 && listen(name->get(), 16) == 0 &&
                      write(ready[1], "x", 1) == 1;
    char byte;
    _exit(good && read(done[0], &byte, 1) == 0 ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(absl::IsUnavailable(ConnectToSampler(squatted).status()));
  EXPECT_FALSE(SamplerOf(squatted, kRoot).has_value()) << "the kernel knows whose it is";
  EXPECT_FALSE(SamplerOfAnotherUser(squatted).has_value());
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
  int status = 0;
  waitpid(squatter, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SamplerSocketTest, WithoutDescriptorsItPausesAndThenServes) {
  const std::string uuid = UniqueUuid();
  const absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const absl::StatusOr<UniqueFd> connection = ConnectToSampler(uuid);
  ASSERT_TRUE(connection.ok()) << connection.status();
  const uint64_t now_ns = MonotonicNs();
  ListenerPace pace;
  {
    const DescriptorLimit none(0);
    EXPECT_FALSE(AcceptSubscriber(listener->get(), now_ns, &pace).valid());
  }
  EXPECT_FALSE(pace.MayListen(now_ns)) << "polled now, the listener is readable all the time";
  const uint64_t later_ns = now_ns + ListenerPace::kPauseNs;
  EXPECT_TRUE(AcceptSubscriber(listener->get(), later_ns, &pace).valid());
}

TEST(SamplerSocketTest, ThoseWhoMayNotReadAreTurnedAwaySixteenAtATime) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  const std::string uuid = UniqueUuid();
  const absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const uint64_t now_ns = MonotonicNs();
  ListenerPace pace;
  for (uint32_t i = 0; i < ListenerPace::kMostRefusals; ++i) {
    EXPECT_TRUE(pace.MayListen(now_ns)) << i;
    EXPECT_EQ(AsAnotherUser([&] { return ConnectToSampler(uuid).ok() ? 7 : 8; }), 7);
    EXPECT_FALSE(AcceptSubscriber(listener->get(), now_ns, &pace).valid());
  }
  EXPECT_FALSE(pace.MayListen(now_ns));
  EXPECT_TRUE(pace.MayListen(now_ns + ListenerPace::kPauseNs));
}

}  // namespace
}  // namespace utlz
