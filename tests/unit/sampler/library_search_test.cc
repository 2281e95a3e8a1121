#include "collector/sampler/driver/library_search.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "collector/sampler/counters/source_reason.h"
#include "tests/support/nobody.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

TEST(LibrarySearch, PrefersTheNewestToolkitAndNamesEachLibraryOnce) {
  const TemporaryFolder root;
  const std::string old_path = root.Write("usr/local/cuda-13.9/lib64/libcupti.so.13", "");
  const std::string new_path = root.Write("usr/local/cuda-13.10/lib64/libcupti.so.13", "");
  ASSERT_EQ(symlink("cuda-13.10", (root.path() + "/usr/local/cuda").c_str()), 0);
  const std::string wheel =
      root.Write("usr/lib/python3/dist-packages/nvidia/cu13/lib/libcupti.so.13", "");
  root.Write("usr/local/cuda-11/lib64/libcupti.so.11", "");
  EXPECT_EQ(FindCupti({.root_directory = root.path()}).paths,
            (std::vector<std::string>{new_path, old_path, wheel}));
}

TEST(LibrarySearch, WhatTheUserNamedStandsAlone) {
  EXPECT_EQ(FindCupti({.named_path = "/my/libcupti.so"}).paths,
            std::vector<std::string>{"/my/libcupti.so"});
}

TEST(LibrarySearch, ACopyBesideUsComesFirst) {
  const TemporaryFolder root;
  const std::string ours = root.Write("opt/utlz/lib/utlz/libcupti.so.13", "");
  root.Write("opt/utlz/bin/utlz", "");
  root.Write("usr/local/cuda-13.0/lib64/libcupti.so.13", "");
  const CuptiSearch search =
      FindCupti({.own_folder = root.path() + "/opt/utlz/bin", .root_directory = root.path()});
  ASSERT_EQ(search.paths.size(), 2u);
  EXPECT_EQ(search.paths[0], ours);
}

TEST(LibrarySearch, WhatOthersMayWriteIsNotLoaded) {
  const TemporaryFolder root;
  const std::string path = root.Write("usr/local/cuda-13.0/lib64/libcupti.so.13", "");
  EXPECT_TRUE(IsTrustedFile(path));
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_FALSE(IsTrustedFile(path));
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(chmod((root.path() + "/usr/local").c_str(), 0777), 0);
  EXPECT_FALSE(IsTrustedFile(path));
  const CuptiSearch search = FindCupti({.root_directory = root.path()});
  EXPECT_TRUE(search.paths.empty());
  EXPECT_EQ(search.passed_over, std::vector<std::string>{path});
  EXPECT_FALSE(IsTrustedFile(root.path() + "/missing"));
  EXPECT_FALSE(IsTrustedFile(root.path()));
}

// What a copy of `trusts_file` that belongs to nobody, started by nobody or as set-user-ID by root,
// says of a file of nobody's.
bool NobodyTrustsItsFile(const TemporaryFolder& folder, bool set_user_id) {
  const std::string program = folder.File("trusts_file");
  const std::string file = folder.Write("libcupti.so.13", "");
  std::filesystem::copy_file(UTLZ_TRUSTS_FILE, program,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(chown(folder.path().c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(chown(file.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(chown(program.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(chmod(program.c_str(), set_user_id ? 04755 : 0755), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (!set_user_id && setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
    execl(program.c_str(), program.c_str(), file.c_str(), nullptr);
    _exit(2);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2) << status;
  return status == 0;
}

// Whoever may write that user's files would have the privileges too.
TEST(LibrarySearch, AProgramWithRaisedPrivilegesTrustsRootAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const TemporaryFolder folder;
  struct statvfs mount = {};
  ASSERT_EQ(statvfs(folder.path().c_str(), &mount), 0);
  if ((mount.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "/tmp heeds no set-user-ID";
  EXPECT_TRUE(NobodyTrustsItsFile(folder, false));
  EXPECT_FALSE(NobodyTrustsItsFile(folder, true));
}

// A framework's wheel is what most machines have, in an environment of the user's own.
TEST(LibrarySearch, FindsWheelsOfTheUsersEnvironments) {
  const TemporaryFolder root;
  const std::string folder = "/site-packages/nvidia/cu13/lib/libcupti.so.13";
  const std::string toolkit = root.Write("usr/local/cuda-13.0/lib64/libcupti.so.13", "");
  const std::string wheel = root.Write("home/v[e]nv/lib/python3.12" + folder, "");
  const std::string conda = root.Write("home/conda/lib/libcupti.so.12", "");
  const std::string pyenv = root.Write("home/pyenv/versions/3.11.7/lib/python3.11" + folder, "");
  const CuptiSearch search =
      FindCupti({.prefixes = {root.path() + "/home/v[e]nv", root.path() + "/home/conda",
                              root.path() + "/home/pyenv"},
                 .root_directory = root.path()});
  EXPECT_EQ(search.paths, (std::vector<std::string>{toolkit, wheel, conda, pyenv}));
}

TEST(LibrarySearch, EnvironmentsAreThoseInThePathAndTheUsersOwn) {
  const ScopedVariable path("PATH", "/home/me/venv/bin:relative/bin::/bin:/opt/tools/bin//");
  const ScopedVariable home("HOME", "/home/me");
  EXPECT_EQ(UserPrefixes(),
            (std::vector<std::string>{"/home/me/venv", "/opt/tools", "/home/me/.local"}));
  const LibrarySearchOptions options = UserLibrarySearch("", "/srv/venv");
  ASSERT_EQ(options.prefixes.size(), 4u);
  EXPECT_EQ(options.prefixes[0], "/srv/venv");
}

TEST(LibrarySearch, SaysWhatItPassedOver) {
  const SourceReason reason =
      ExplainMissingCupti(absl::NotFoundError("none"), {"/shared/libcupti"});
  EXPECT_NE(reason.reason.find("/shared/libcupti is passed over"), std::string::npos);
  EXPECT_NE(reason.remedy.find("--cupti"), std::string::npos);
}

}  // namespace
}  // namespace utlz
