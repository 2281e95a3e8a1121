#include "collector/sampler/sharing/device_lease.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "collector/clocks.h"
#include "collector/gpu_uuid.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "tests/support/nobody.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

class DeviceLeaseTest : public testing::Test {
 protected:
  DeviceLeaseTest() {
    // No other test on this machine meets this GPU.
    uuid_ = std::to_string(getpid()) + "-" + std::to_string(MonotonicNs());
    uuid_.resize(16, '.');
    path_ = folder_.File("counters-" + FormatGpuUuid(uuid_) + ".lock");
  }

  absl::Status Take() { return DeviceLease::Take(folder_.path(), uuid_).status(); }

  TemporaryFolder folder_;
  std::string uuid_;
  std::string path_;
};

TEST_F(DeviceLeaseTest, OneTakesTheCountersAndIsNamedToTheNext) {
  const auto first = DeviceLease::Take(folder_.path(), uuid_);
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = Take();
  EXPECT_TRUE(absl::IsUnavailable(second)) << second;
  EXPECT_THAT(std::string(second.message()),
              HasSubstr("another utlz (sampler process " + std::to_string(getpid()) + ")"));
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u) << "who opens it may lock it";
}

TEST_F(DeviceLeaseTest, AProcessThatHasEndedIsNotNamed) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  WriteWholeFile(path_, std::to_string(child) + "\n");
  const UniqueFd file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(file.get(), LOCK_EX), 0);
  const absl::Status status = Take();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr("process")));
}

TEST_F(DeviceLeaseTest, AFolderThatOthersWriteToIsNotUsed) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 01777), 0);  // as /tmp
  EXPECT_TRUE(absl::IsPermissionDenied(Take()));
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(DeviceLeaseTest, AFileThatHasAnotherNameIsNotWrittenTo) {
  const std::string precious = folder_.Write("precious", "precious root data");
  ASSERT_EQ(link(precious.c_str(), path_.c_str()), 0);
  const absl::Status status = Take();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_EQ(ReadWholeFile(precious), "precious root data");
}

TEST_F(DeviceLeaseTest, ALinkIsNotFollowed) {
  const std::string precious = folder_.Write("precious", "precious root data");
  ASSERT_EQ(symlink(precious.c_str(), path_.c_str()), 0);
  EXPECT_FALSE(Take().ok());
  EXPECT_EQ(ReadWholeFile(precious), "precious root data");
}

// What anybody could do while the lock lay in /tmp.
TEST_F(DeviceLeaseTest, AnotherUserCannotHoldTheLock) {
  if (geteuid() != 0) GTEST_SKIP() << "a second user's processes are started by root alone";
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);  // as /run/utlz
  ASSERT_TRUE(Take().ok());
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
    _exit(open(path_.c_str(), O_RDONLY) >= 0 || errno != EACCES ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "it opened the lock file";
}

TEST_F(DeviceLeaseTest, WhatAnotherUserMadeIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "a second user's files are made by root alone";
  folder_.Write("counters-" + FormatGpuUuid(uuid_) + ".lock", "precious");
  ASSERT_EQ(chown(path_.c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(Take()));
  EXPECT_EQ(ReadWholeFile(path_), "precious");
}

}  // namespace
}  // namespace utlz
