#include "inject/reports/identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz::agent {
namespace {

// A process's rank as its agent sends it.
class RankTest : public ::testing::Test {
 protected:
  ~RankTest() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }

  void Set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }

  static Process Sent() {
    static const CuptiApi cupti{};
    static const CudaApi cuda{};
    std::vector<uint8_t> bytes(64 << 10);
    ByteBuffer message(bytes.data(), static_cast<uint32_t>(bytes.size()));
    WriteProcess(cupti, cuda, &message);
    Process process;
    EXPECT_TRUE(process.ParseFromArray(message.data(), static_cast<int>(message.size())));
    return process;
  }

 private:
  std::vector<std::string> set_;
};

TEST_F(RankTest, NoneWithoutALauncher) { EXPECT_FALSE(Sent().has_rank()); }

TEST_F(RankTest, TorchrunCountsBeforeWhatStartedIt) {
  Set("SLURM_PROCID", "1");
  Set("SLURM_STEP_NUM_TASKS", "2");
  Set("RANK", "9");
  Set("LOCAL_RANK", "1");
  Set("WORLD_SIZE", "16");
  const Process process = Sent();
  EXPECT_EQ(process.rank(), 9u);
  EXPECT_EQ(process.local_rank(), 1u);
  EXPECT_EQ(process.world_size(), 16u);
}

TEST_F(RankTest, OpenMpi) {
  Set("OMPI_COMM_WORLD_RANK", "3");
  Set("OMPI_COMM_WORLD_SIZE", "4");
  EXPECT_EQ(Sent().rank(), 3u);
  EXPECT_EQ(Sent().world_size(), 4u);
  EXPECT_FALSE(Sent().has_local_rank());
}

TEST_F(RankTest, TheScriptOfABatchJobIsNoRank) {
  Set("SLURM_PROCID", "0");
  Set("SLURM_LOCALID", "0");
  Set("SLURM_NTASKS", "8");
  EXPECT_FALSE(Sent().has_rank());
  Set("SLURM_STEP_NUM_TASKS", "8");
  EXPECT_EQ(Sent().rank(), 0u);
  EXPECT_EQ(Sent().world_size(), 8u);
}

TEST_F(RankTest, WhatIsNoNumberIsNoRank) {
  Set("RANK", "-1");
  Set("PMI_RANK", "2");
  EXPECT_EQ(Sent().rank(), 2u);
}

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
TEST_F(MpsTest, WhatIsNoPipeOfOursIsNotAccepted) {
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
}  // namespace utlz::agent
