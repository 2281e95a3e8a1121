#include "collector/files/as_user.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "collector/unique_fd.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/files/another_user.h"

namespace utlz {
namespace {

constexpr gid_t kDisk = 6;  // a group that root's log-in often has

bool Opens(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)).valid();
}

// Groups belong to a thread; the test's own keeps those that it has.
void InThreadWithGroup(gid_t group, const std::function<void()>& test) {
  std::thread([&] {
    const std::array<gid_t, 2> groups = {0, group};
    ASSERT_EQ(syscall(SYS_setgroups, groups.size(), groups.data()), 0);
    test();
  }).join();
}

TEST(AsUserTest, HasNoGroupOfOurs) {
  if (geteuid() != 0) GTEST_SKIP() << kNeedsRoot;
  TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const std::string path = folder.Write("of the group", "secret");
  ASSERT_EQ(chown(path.c_str(), 0, kDisk), 0);
  ASSERT_EQ(chmod(path.c_str(), 0060), 0);
  InThreadWithGroup(kDisk, [&] {
    {
      const AsUser as_user({.user_id = kNobody, .group_id = kNobody});
      ASSERT_TRUE(as_user.changed());
      EXPECT_FALSE(Opens(path)) << "by a group of root's log-in";
    }
    EXPECT_TRUE(Opens(path));
    gid_t groups[2] = {};
    EXPECT_EQ(getgroups(2, groups), 2);
    EXPECT_EQ(groups[1], kDisk) << "we have our own groups again";
  });
}

TEST(AsUserTest, HasTheGroupsOfThatUser) {
  if (geteuid() != 0) GTEST_SKIP() << kNeedsRoot;
  TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const std::string path = folder.Write("of the group", "shared");
  ASSERT_EQ(chown(path.c_str(), 0, kDisk), 0);
  ASSERT_EQ(chmod(path.c_str(), 0060), 0);
  const AsUser as_user({.user_id = kNobody, .group_id = kNobody, .groups = {kDisk}});
  EXPECT_TRUE(Opens(path));
}

TEST(AsUserTest, OneselfNeedsNoRights) {
  const AsUser as_user({.user_id = geteuid(), .group_id = getegid()});
  EXPECT_TRUE(as_user.changed());
}

TEST(InvokingUserTest, IsWhoRanSudoOrPkexec) {
  if (geteuid() != 0) GTEST_SKIP() << "only root was somebody else before";
  const ScopedVariable no_uid("SUDO_UID", ""), no_gid("SUDO_GID", ""), no_pkexec("PKEXEC_UID", "");
  EXPECT_FALSE(InvokingUser().has_value());
  {
    const ScopedVariable uid("SUDO_UID", "12345"), gid("SUDO_GID", "54321");
    const auto user = InvokingUser();
    ASSERT_TRUE(user.has_value());
    EXPECT_EQ(user->user_id, 12345u);
    EXPECT_EQ(user->group_id, 54321u);
    EXPECT_TRUE(user->groups.empty()) << "nobody knows that user";
  }
  {
    const ScopedVariable uid("PKEXEC_UID", "65534");
    const auto user = InvokingUser();
    ASSERT_TRUE(user.has_value());
    EXPECT_EQ(user->user_id, kNobody);
  }
  for (const char* text : {"0", "-1", "4294967295", "root", ""}) {
    const ScopedVariable uid("SUDO_UID", text), gid("SUDO_GID", "1");
    EXPECT_FALSE(InvokingUser().has_value()) << text;
  }
}

}  // namespace
}  // namespace utlz
