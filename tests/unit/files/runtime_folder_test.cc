#include "collector/files/runtime_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/support/scoped_variable.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/files/another_user.h"

namespace utlz {
namespace {

TEST(RuntimeFolderTest, IsOurs) {
  const absl::StatusOr<std::string> folder = RuntimeFolder();
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(OpenOwnFolder(*folder).ok());
}

TEST(RuntimeFolderTest, RootTakesNoFolderThatItsEnvironmentNames) {
  if (geteuid() != 0) GTEST_SKIP() << "others do take their own";
  TemporaryFolder folder;
  const ScopedVariable runtime("XDG_RUNTIME_DIR", folder.path().c_str());
  EXPECT_NE(RuntimeFolder().value_or(""), folder.path() + "/utlz") << "su keeps a user's";
}

TEST(OwnFolderTest, IsOneThatOthersCannotWriteTo) {
  TemporaryFolder folder;
  EXPECT_TRUE(OpenOwnFolder(folder.path()).ok());
  for (const mode_t mode : {0770, 0707, 01777}) {
    ASSERT_EQ(chmod(folder.path().c_str(), mode), 0);
    EXPECT_TRUE(absl::IsPermissionDenied(OpenOwnFolder(folder.path()).status())) << mode;
  }
}

TEST(OwnFolderTest, IsNoLink) {
  TemporaryFolder folder;
  LinkOf(geteuid(), folder.path(), folder.path() + "/link");
  EXPECT_FALSE(OpenOwnFolder(folder.path() + "/link").ok());
}

TEST(OwnFolderTest, IsNotAnotherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << kNeedsRoot;
  TemporaryFolder folder;
  const std::string theirs = FolderOf(kNobody, folder.path(), "theirs");
  EXPECT_TRUE(absl::IsPermissionDenied(OpenOwnFolder(theirs).status()));
}

}  // namespace
}  // namespace utlz
