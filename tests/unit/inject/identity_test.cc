#include "inject/identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace utlz::inject {
namespace {

class MpsTest : public ::testing::Test {
 protected:
  MpsTest() {
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    char name[] = "/tmp/utlz-mps-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~MpsTest() override {
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    std::filesystem::remove_all(folder_);
  }

  bool MayUse() const { return MayUseMps(folder_.c_str()); }

  std::string folder_;
};

TEST_F(MpsTest, TheVariableNamesItsFolder) {
  EXPECT_FALSE(MayUse());
  setenv("CUDA_MPS_PIPE_DIRECTORY", "/run/mps", 1);
  EXPECT_TRUE(MayUse());
}

TEST_F(MpsTest, TheDefaultFolderHasAControlPipe) {
  ASSERT_EQ(mkfifo((folder_ + "/control").c_str(), 0600), 0);
  EXPECT_TRUE(MayUse());
}

// Anybody can make them.
TEST_F(MpsTest, WhatIsNoPipeOfOursIsNotBelieved) {
  const std::string control = folder_ + "/control";
  const int file = creat(control.c_str(), 0600);
  ASSERT_GE(file, 0);
  close(file);
  EXPECT_FALSE(MayUse()) << "a plain file";
  ASSERT_EQ(unlink(control.c_str()), 0);
  ASSERT_EQ(mkfifo((folder_ + "/elsewhere").c_str(), 0600), 0);
  ASSERT_EQ(symlink((folder_ + "/elsewhere").c_str(), control.c_str()), 0);
  EXPECT_FALSE(MayUse()) << "a link";
  ASSERT_EQ(unlink(control.c_str()), 0);
  ASSERT_EQ(mkfifo(control.c_str(), 0600), 0);
  if (chown(control.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "another user needs root";
  EXPECT_FALSE(geteuid() != 65534 && MayUse()) << "another user's";
}

}  // namespace
}  // namespace utlz::inject
