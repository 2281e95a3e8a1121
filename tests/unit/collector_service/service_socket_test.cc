#include "tools/collector_service/service_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

class ServiceSocketTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.File("collector");
};

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

TEST_F(ServiceSocketTest, ServesOneAtATime) {
  EXPECT_FALSE(ServiceListens(path_));
  {
    const auto socket = OpenServiceSocket(path_, AgentUsers::kOwn);
    ASSERT_TRUE(socket.ok()) << socket.status();
    EXPECT_TRUE(ServiceListens(path_));
    EXPECT_EQ(ModeOf(path_), 0600u);
    EXPECT_TRUE(absl::IsUnavailable(OpenServiceSocket(path_, AgentUsers::kOwn).status()));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(OpenServiceSocket(path_, AgentUsers::kOwn).ok());
}

TEST_F(ServiceSocketTest, ReplacesWhatAKilledOneLeft) {
  const pid_t killed = fork();
  if (killed == 0) {
    const auto socket = OpenServiceSocket(path_, AgentUsers::kOwn);
    kill(getpid(), SIGKILL);
  }
  waitpid(killed, nullptr, 0);
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(ServiceListens(path_));
  EXPECT_TRUE(OpenServiceSocket(path_, AgentUsers::kOwn).ok());
}

TEST_F(ServiceSocketTest, IsForEverybodyIfAsked) {
  const auto socket = OpenServiceSocket(path_, AgentUsers::kEverybody);
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ(ModeOf(path_), 0666u);
}

TEST_F(ServiceSocketTest, WhatIsNoSocketStays) {
  WriteWholeFile(path_, "mine");
  EXPECT_FALSE(OpenServiceSocket(path_, AgentUsers::kOwn).ok());
  EXPECT_EQ(ReadWholeFile(path_), "mine");
}

TEST_F(ServiceSocketTest, AFolderThatOthersMayWriteToIsRefused) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(OpenServiceSocket(path_, AgentUsers::kOwn).status()));
}

TEST_F(ServiceSocketTest, PlacesAreWholePaths) {
  EXPECT_EQ(*ServiceSocketPath("unix:/run/utlz/collector"), "/run/utlz/collector");
  EXPECT_EQ(*ServiceSocketPath("/run/utlz/collector"), "/run/utlz/collector");
  for (const std::string& wrong : {std::string(), std::string("unix:"), std::string("unix:a"),
                                   std::string("9400"), "/" + std::string(107, 'x')}) {
    EXPECT_FALSE(ServiceSocketPath(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace utlz
