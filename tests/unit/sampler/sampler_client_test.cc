#include "collector/sampler/channel/sampler_client.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace utlz {
namespace {

class SamplerClientTest : public testing::Test {
 protected:
  std::unique_ptr<SamplerClient> Start(const std::string& behaviour) {
    SamplerClientOptions options;
    options.executable = UTLZ_FAKE_SAMPLER;
    options.options.cupti_path = behaviour;
    absl::StatusOr<std::unique_ptr<SamplerClient>> client = SamplerClient::Start(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return client.ok() ? *std::move(client) : nullptr;
  }

  SamplerClient::FrameSink Sink() {
    return [this](uint16_t, std::string_view payload) { payloads_.emplace_back(payload); };
  }

  // Reads until `count` frames came or the sampler ended.
  absl::Status ReadUntil(SamplerClient* client, size_t count) {
    absl::Status status;
    while (client->running() && payloads_.size() < count) {
      pollfd entry{client->fd(), POLLIN, 0};
      poll(&entry, 1, -1);
      status = client->Read(Sink());
    }
    return status;
  }

  static bool Alive(pid_t pid) { return kill(pid, 0) == 0; }

  std::vector<std::string> payloads_;
};

TEST_F(SamplerClientTest, CommandsReachTheSampler) {
  const auto client = Start("");
  ASSERT_TRUE(client->UseDevice("0123456789abcdef").ok());
  ASSERT_TRUE(client->Yield().ok());
  ASSERT_TRUE(client->Resume().ok());
  ASSERT_TRUE(client->SetDuty(250'000).ok());
  ASSERT_TRUE(client->StartWindow().ok());
  ASSERT_TRUE(client->WindowAt("0123456789abcdef", 77).ok());
  ASSERT_TRUE(client->CollectorSpent("0123456789abcdef", 88).ok());
  ASSERT_TRUE(ReadUntil(client.get(), 7).ok());
  EXPECT_EQ(payloads_, (std::vector<std::string>{"1 0 0123456789abcdef", "2 0 ", "3 0 ",
                                                 "4 250000 ", "5 0 ", "7 77 0123456789abcdef",
                                                 "10 88 0123456789abcdef"}));
  EXPECT_EQ(client->frames(), 7u);
  EXPECT_FALSE(client->UseDevice("short").ok());
  EXPECT_FALSE(client->WindowAt("short", 77).ok());
}

TEST_F(SamplerClientTest, StopHandsOnTheLastFrames) {
  auto client = Start("");
  const pid_t pid = client->pid();
  client->Stop(Sink(), std::chrono::seconds(60));
  EXPECT_EQ(payloads_, std::vector<std::string>{"bye"});
  EXPECT_FALSE(client->running());
  EXPECT_FALSE(client->Yield().ok());
  EXPECT_TRUE(client->Read(Sink()).ok());
  client.reset();
  EXPECT_FALSE(Alive(pid));
}

TEST_F(SamplerClientTest, WhoeverHasSomethingElseToDoNeedNotWaitForTheProcess) {
  auto client = Start("lingers");
  const pid_t pid = client->pid();
  client->Stop(Sink(), std::chrono::hours(1));
  EXPECT_EQ(payloads_, std::vector<std::string>{"bye"});
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0) << "it is ending still";
  client.reset();
  EXPECT_FALSE(Alive(pid));
}

TEST_F(SamplerClientTest, ASamplerThatDoesNotEndIsKilled) {
  auto client = Start("deaf");
  const pid_t pid = client->pid();
  client->Stop(Sink(), std::chrono::milliseconds(50));
  client.reset();
  EXPECT_FALSE(Alive(pid));
}

TEST_F(SamplerClientTest, ASamplerThatGoesOnForOthersIsLeftAlone) {
  const auto client = Start("detached");
  const pid_t pid = client->pid();
  client->Stop(Sink(), std::chrono::seconds(60));
  EXPECT_TRUE(payloads_.empty());
  EXPECT_TRUE(Alive(pid));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST_F(SamplerClientTest, ACrashIsSaidOnce) {
  const auto client = Start("crash");
  EXPECT_TRUE(absl::IsUnavailable(ReadUntil(client.get(), 1)));
  EXPECT_EQ(client->fd(), -1);
  EXPECT_TRUE(client->Read(Sink()).ok());
}

TEST_F(SamplerClientTest, GarbageEndsTheConversation) {
  const auto client = Start("garbage");
  EXPECT_TRUE(absl::IsDataLoss(ReadUntil(client.get(), 1)));
  EXPECT_FALSE(client->running());
}

TEST_F(SamplerClientTest, TheSamplersEnvironmentIsClean) {
  setenv("CUDA_INJECTION64_PATH", "/tmp/evil.so", 1);
  setenv("LD_PRELOAD_NOT", "x", 1);
  setenv("CUDA_VISIBLE_DEVICES", "3", 1);
  const auto client = Start("environment");
  unsetenv("CUDA_INJECTION64_PATH");
  unsetenv("LD_PRELOAD_NOT");
  unsetenv("CUDA_VISIBLE_DEVICES");
  ASSERT_TRUE(ReadUntil(client.get(), 1).ok());
  ASSERT_EQ(payloads_.size(), 1u);
  EXPECT_EQ(payloads_[0].find("CUDA_"), std::string::npos);
  EXPECT_EQ(payloads_[0].find("LD_PRELOAD"), std::string::npos);
  EXPECT_NE(payloads_[0].find("PATH="), std::string::npos);
}

TEST_F(SamplerClientTest, TheSamplerInheritsNoDescriptorButItsChannel) {
  const int leaked = open("/dev/null", O_RDONLY);
  ASSERT_GT(leaked, 2);
  const auto client = Start("descriptors");
  close(leaked);
  ASSERT_TRUE(ReadUntil(client.get(), 1).ok());
  EXPECT_EQ(payloads_[0], "0 1 2 3 ");
}

TEST_F(SamplerClientTest, AMissingProgramIsAnError) {
  SamplerClientOptions options;
  options.executable = "/nonexistent/utlz";
  EXPECT_TRUE(absl::IsUnavailable(SamplerClient::Start(options).status()));
}

}  // namespace
}  // namespace utlz
