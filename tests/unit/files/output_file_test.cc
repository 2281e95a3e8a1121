#include "collector/files/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "collector/files/output_stream.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/files/another_user.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

const OutputOptions kAtOnce = {.may_replace = [](int) { return true; },
                               .what = "profile",
                               .kind = "a utlz profile",
                               .appears_at_once = true};

using FileStatus = struct stat;

FileStatus StatusOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

size_t FilesIn(const std::string& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

absl::Status WriteTo(const std::string& path, const std::string& text,
                     const OutputOptions& options = {}) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(path, options);
  if (!file.ok()) return file.status();
  OutputStream stream(file->fd());
  stream << text;
  if (!stream.flush()) return absl::UnknownError("not written");
  return file->Publish();
}

// By a user, or by root who logged in as such.
class OutputFileTest : public testing::Test {
 protected:
  const ScopedVariable no_sudo_{"SUDO_UID", ""};
  const ScopedVariable no_pkexec_{"PKEXEC_UID", ""};
  TemporaryFolder folder_;
};

TEST_F(OutputFileTest, WhatWasThereStaysUntilThereIsSomethingToKeep) {
  const std::string path = folder_.Write("out", "old");
  for (const OutputOptions& options : {OutputOptions(), kAtOnce}) {
    {
      absl::StatusOr<OutputFile> file = OutputFile::Create(path, options);
      ASSERT_TRUE(file.ok()) << file.status();
      OutputStream(file->fd()) << "new";
      EXPECT_EQ(ReadWholeFile(path), "old");
    }
    EXPECT_EQ(ReadWholeFile(path), "old");
    EXPECT_EQ(FilesIn(folder_.path()), 1u) << "nothing unfinished is left";
  }
  ASSERT_TRUE(WriteTo(path, "new").ok());
  EXPECT_EQ(ReadWholeFile(path), "new");
  EXPECT_EQ(FilesIn(folder_.path()), 1u);
}

TEST_F(OutputFileTest, WhatAppearsAtOnceGoesAgainWithoutSomethingToKeep) {
  const std::string path = folder_.File("out");
  {
    const absl::StatusOr<OutputFile> file = OutputFile::Create(path, kAtOnce);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_EQ(FilesIn(folder_.path()), 0u);
  {
    const absl::StatusOr<OutputFile> file = OutputFile::Create(path, kAtOnce);
    ASSERT_TRUE(file.ok());
    std::filesystem::remove(path);
    folder_.Write("out", "another's");
  }
  EXPECT_EQ(ReadWholeFile(path), "another's") << "only what we made is removed";
}

TEST_F(OutputFileTest, AnotherFileThatCameMeanwhileIsLeftAlone) {
  const std::string path = folder_.Write("out", "old");
  absl::StatusOr<OutputFile> file = OutputFile::Create(path, kAtOnce);
  ASSERT_TRUE(file.ok());
  std::filesystem::remove(path);
  folder_.Write("out", "another's");
  EXPECT_THAT(std::string(file->Publish().message()), HasSubstr("another file is there by now"));
  EXPECT_EQ(ReadWholeFile(path), "another's");
}

TEST_F(OutputFileTest, AnOldFileThatWasRemovedMeanwhileIsNoHindrance) {
  const std::string path = folder_.Write("out", "old");
  absl::StatusOr<OutputFile> file = OutputFile::Create(path, kAtOnce);
  ASSERT_TRUE(file.ok());
  std::filesystem::remove(path);
  EXPECT_TRUE(file->Publish().ok());
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(OutputFileTest, OnlyOneMayWriteAFileAtATime) {
  const std::string path = folder_.File("out");
  for (int round = 0; round < 2; ++round) {  // a new file, then an old one that is to be replaced
    absl::StatusOr<OutputFile> first = OutputFile::Create(path, kAtOnce);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_TRUE(absl::IsUnavailable(OutputFile::Create(path, kAtOnce).status()));
    ASSERT_TRUE(first->Publish().ok());
    EXPECT_TRUE(absl::IsUnavailable(OutputFile::Create(path, kAtOnce).status()));
  }
}

TEST_F(OutputFileTest, WhatMustBeNewReplacesNothing) {
  OutputOptions options = kAtOnce;
  options.must_be_new = true;
  EXPECT_TRUE(absl::IsAlreadyExists(WriteTo(folder_.Write("out", ""), "new", options)));
  EXPECT_TRUE(WriteTo(folder_.File("other"), "new", options).ok());
}

TEST_F(OutputFileTest, FoldersAndWhatIsNoFileAreRefused) {
  folder_.Write("folder/file", "");
  EXPECT_FALSE(WriteTo(folder_.File("folder"), "").ok());
  EXPECT_FALSE(WriteTo(folder_.File("folder/"), "").ok());
  EXPECT_FALSE(WriteTo(folder_.File("folder/."), "").ok());
  EXPECT_FALSE(WriteTo("", "").ok());
  EXPECT_TRUE(absl::IsNotFound(WriteTo(folder_.File("none/file"), "")));
  EXPECT_TRUE(WriteTo(folder_.File("folder/../new"), "").ok());
  EXPECT_THAT(std::string(WriteTo("/dev/null", "", kAtOnce).message()),
              HasSubstr("not a regular file"));
}

TEST_F(OutputFileTest, APipeIsWrittenAsItIs) {
  const std::string path = folder_.File("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = ReadWholeFile(path); });
  EXPECT_TRUE(WriteTo(path, "through").ok());
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(S_ISFIFO(StatusOf(path).st_mode)) << "it was not replaced";
  EXPECT_TRUE(WriteTo("/dev/null", "gone").ok());
  EXPECT_TRUE(S_ISCHR(StatusOf("/dev/null").st_mode));
}

TEST_F(OutputFileTest, WhatAPipeOfOursIsCalledInProcIsWrittenAsItIs) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  EXPECT_TRUE(WriteTo("/proc/self/fd/" + std::to_string(to.get()), "through").ok());
  char text[16] = {};
  EXPECT_EQ(read(from.get(), text, sizeof(text)), 7);
}

TEST_F(OutputFileTest, ALinkOfOneselfLeadsToItsFile) {
  folder_.Write("elsewhere/file", "old");
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
  LinkOf(geteuid(), "elsewhere/file", folder_.File("link"));
  ASSERT_TRUE(WriteTo(folder_.File("link"), "new", kAtOnce).ok());
  EXPECT_EQ(ReadWholeFile(folder_.File("elsewhere/file")), "new");
  EXPECT_TRUE(S_ISLNK(StatusOf(folder_.File("link")).st_mode));
}

TEST_F(OutputFileTest, APrivateFileIsForItsOwnerAlone) {
  OutputOptions options = kAtOnce;
  options.is_private = true;
  ASSERT_TRUE(WriteTo(folder_.File("out"), "new", options).ok());
  EXPECT_EQ(StatusOf(folder_.File("out")).st_mode & 0777, 0600u);
  ASSERT_TRUE(WriteTo(folder_.File("out"), "new", kAtOnce).ok());
  EXPECT_EQ(StatusOf(folder_.File("out")).st_mode & 0777, 0600u) << "and stays so when replaced";
}

TEST_F(OutputFileTest, RootFollowsNoLinkOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << kNeedsRoot;
  const std::string theirs = FolderOf(kNobody, folder_.path(), "theirs");
  const std::string roots = FolderOf(0, folder_.path(), "roots");
  ASSERT_EQ(chmod(roots.c_str(), 0700), 0);
  LinkOf(kNobody, roots + "/new", theirs + "/out");
  LinkOf(kNobody, roots, theirs + "/folder");
  LinkOf(0, roots, theirs + "/of root, but where they may change it");
  for (const OutputOptions& options : {OutputOptions(), kAtOnce}) {
    for (const char* name : {"/out", "/folder/new", "/of root, but where they may change it/new"}) {
      const absl::Status status = WriteTo(theirs + name, "text", options);
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << name << ": " << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("does not follow the link"));
    }
  }
  EXPECT_EQ(FilesIn(roots), 0u);
}

TEST_F(OutputFileTest, RootFollowsItsOwnLinksAndWritesIntoOthersFolders) {
  if (geteuid() != 0) GTEST_SKIP() << kNeedsRoot;
  const std::string theirs = FolderOf(kNobody, folder_.path(), "theirs");
  LinkOf(0, theirs, folder_.File("home"));  // as /home -> /data/home
  EXPECT_TRUE(WriteTo(folder_.File("home/out"), "text", kAtOnce).ok());
  EXPECT_EQ(ReadWholeFile(theirs + "/out"), "text");
  // One of root's in /tmp, which nobody else can replace.
  ASSERT_EQ(chmod(folder_.path().c_str(), 01777), 0);
  EXPECT_TRUE(WriteTo(folder_.File("home/out2"), "text").ok());
}

TEST_F(OutputFileTest, UnderSudoFilesAreOfWhoRanIt) {
  if (geteuid() != 0) GTEST_SKIP() << kNeedsRoot;
  const ScopedVariable uid("SUDO_UID", "65534"), gid("SUDO_GID", "65534");
  const std::string theirs = FolderOf(kNobody, folder_.path(), "theirs");
  const std::string results = FolderOf(kNobody, folder_.path(), "results");
  LinkOf(kNobody, results, theirs + "/results");
  for (const OutputOptions& options : {OutputOptions(), kAtOnce}) {
    ASSERT_TRUE(WriteTo(theirs + "/results/out", "text", options).ok()) << "their own link";
    EXPECT_EQ(StatusOf(results + "/out").st_uid, kNobody);
    EXPECT_EQ(StatusOf(results + "/out").st_gid, kNobody);
    { EXPECT_TRUE(OutputFile::Create(theirs + "/results/unused", options).ok()); }
    EXPECT_EQ(FilesIn(results), 1u) << "what was not kept is removed";
  }
}

TEST_F(OutputFileTest, UnderSudoALinkLeadsNowhereWhereWhoMadeItMayNotWrite) {
  if (geteuid() != 0) GTEST_SKIP() << kNeedsRoot;
  const ScopedVariable uid("SUDO_UID", "65534"), gid("SUDO_GID", "65534");
  const std::string theirs = FolderOf(kNobody, folder_.path(), "theirs");
  const std::string roots = FolderOf(0, folder_.path(), "roots");
  LinkOf(kNobody, roots + "/new", theirs + "/out");
  EXPECT_FALSE(WriteTo(theirs + "/out", "text", kAtOnce).ok());
  EXPECT_EQ(FilesIn(roots), 0u);
  // Root may name such a place itself.
  EXPECT_TRUE(WriteTo(roots + "/new", "text", kAtOnce).ok());
  EXPECT_EQ(StatusOf(roots + "/new").st_uid, 0u);
}

TEST_F(OutputFileTest, MissingFoldersAreMadeWhereThatIsAskedFor) {
  const OutputOptions options = {.make_folders = true};
  EXPECT_TRUE(WriteTo(folder_.File("a/b/c"), "text", options).ok());
  EXPECT_EQ(ReadWholeFile(folder_.File("a/b/c")), "text");
  if (geteuid() != 0) return;
  const std::string theirs = FolderOf(kNobody, folder_.path(), "theirs");
  LinkOf(kNobody, folder_.File("a"), theirs + "/.local");
  EXPECT_FALSE(WriteTo(theirs + "/.local/state/x", "text", options).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.File("a/state")));
}

}  // namespace
}  // namespace utlz
