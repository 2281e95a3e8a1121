#include "collector/session/mapped_libraries.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

TEST(CodeMappingsTest, AreOfLinesThatMapCodeFromAFile) {
  EXPECT_THAT(
      ParseCodeMappings("7f00-7f10 r-xp 00001000 08:01 4711   /usr/lib/a b.so\n"
                        "7f10-7f20 r--p 00002000 08:01 4711   /usr/lib/a b.so\n"
                        "7f20-7f30 r-xp 00000000 00:00 0      [vdso]\n"
                        "7f30-7f40 r-xp 00000000 08:01 12     /tmp/gone.so (deleted)\n"
                        "7f40-7f50 r-xp 00000000 00:00 0\n"
                        "rubbish\n"
                        "7f50-7f60 r-xp 00000000 08:01 99     /x"),
      ElementsAre(Field(&CodeMapping::path, "/usr/lib/a b.so"), Field(&CodeMapping::path, "/x")));
}

TEST(CodeMappingsTest, AreBounded) {
  std::string maps;
  for (int i = 0; i < 5000; ++i) maps += "1-2 r-xp 0 08:01 7 /lib\n";
  EXPECT_EQ(ParseCodeMappings(maps).size(), MappedLibraries::kMostFiles);
}

// A file of this test's own that this process maps as code.
class MappedLibrariesTest : public ::testing::Test {
 protected:
  MappedLibrariesTest() {
    std::string pattern = ::testing::TempDir() + "/mapped_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/library.so";
    std::ofstream(path_) << std::string(4096, 'x');
    const UniqueFd file(open(path_.c_str(), O_RDONLY));
    code_ = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    EXPECT_NE(code_, MAP_FAILED);
  }
  ~MappedLibrariesTest() override {
    munmap(code_, 4096);
    std::filesystem::remove_all(folder_);
  }

  // How many of the files that are opened are the one at `path`.
  int Opened(const std::string& path) {
    struct stat wanted;
    EXPECT_EQ(stat(path.c_str(), &wanted), 0);
    int count = 0;
    for (const UniqueFd& file : libraries_.OpenNew(getpid(), [](int) { return true; })) {
      struct stat status;
      EXPECT_EQ(fstat(file.get(), &status), 0);
      count += status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino ? 1 : 0;
    }
    return count;
  }

  std::string folder_;
  std::string path_;
  void* code_ = nullptr;
  MappedLibraries libraries_;
};

TEST_F(MappedLibrariesTest, OpensEachFileOnce) {
  EXPECT_EQ(Opened(path_), 1);
  EXPECT_EQ(Opened(path_), 0);
}

// A name may be something else by the time that it is opened.
class MappingTest : public MappedLibrariesTest {
 protected:
  MappingTest() : root_(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  bool Opens(const std::string& path, bool of_own_user = true) {
    return OpenMapping(root_.get(), {.inode = Inode(), .path = path}, of_own_user).valid();
  }
  uint64_t Inode() const {
    struct stat status;
    EXPECT_EQ(stat(path_.c_str(), &status), 0);
    return status.st_ino;
  }

  UniqueFd root_;
};

TEST_F(MappingTest, IsOfARegularFile) {
  EXPECT_TRUE(Opens(path_));
  EXPECT_FALSE(Opens(folder_));
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(Opens(pipe));
  EXPECT_FALSE(Opens("/dev/null"));
}

TEST_F(MappingTest, FollowsNoSymbolicLink) {
  const std::string link = folder_ + "/link";
  std::filesystem::create_symlink(path_, link);
  EXPECT_FALSE(Opens(link));
  std::filesystem::create_directory_symlink(folder_, folder_ + "/way");
  EXPECT_FALSE(Opens(folder_ + "/way/library.so"));
}

TEST_F(MappingTest, OfAnotherUserIsTheMappedFileItself) {
  const std::string other = folder_ + "/other";
  std::ofstream(other) << "another";
  EXPECT_TRUE(Opens(path_, /*of_own_user=*/false));
  EXPECT_FALSE(Opens(other, /*of_own_user=*/false));
  EXPECT_TRUE(Opens(other, /*of_own_user=*/true));
}

TEST_F(MappingTest, StaysBelowTheRoot) {
  root_.Reset(open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(Opens("/library.so"));
  EXPECT_TRUE(Opens("/../../library.so"));
  EXPECT_FALSE(Opens(path_));
}

TEST_F(MappedLibrariesTest, KeepsWhatIsWanted) {
  EXPECT_THAT(libraries_.OpenNew(getpid(), [](int) { return false; }), IsEmpty());
}

TEST(MappedLibrariesOfNobodyTest, AreNone) {
  EXPECT_THAT(MappedLibraries().OpenNew(0x3fffffff, [](int) { return true; }), IsEmpty());
}

}  // namespace
}  // namespace utlz
